keel_fuzz(safetensors ROOMS model tensor base)
