// What the bridge knows of pjrt_c_api.h. The compiler gives offsets and sizes;
// tests/unit/bridge_test.c checks that nothing in the header is missing.
#ifndef KEEL_PJRT_BRIDGE_TABLE_H_
#define KEEL_PJRT_BRIDGE_TABLE_H_

// Every function of PJRT_Api, in its order, without PJRT_; the arguments of X are PJRT_X_Args. The
// three calls on errors are missing: they come before anything is known, two of them cannot refuse,
// and their arguments have never grown.
#define KEEL_BRIDGE_FUNCTIONS(X)                                                                   \
    X(Plugin_Initialize)                                                                           \
    X(Plugin_Attributes)                                                                           \
    X(Event_Destroy)                                                                               \
    X(Event_IsReady)                                                                               \
    X(Event_Error)                                                                                 \
    X(Event_Await)                                                                                 \
    X(Event_OnReady)                                                                               \
    X(Client_Create)                                                                               \
    X(Client_Destroy)                                                                              \
    X(Client_PlatformName)                                                                         \
    X(Client_ProcessIndex)                                                                         \
    X(Client_PlatformVersion)                                                                      \
    X(Client_Devices)                                                                              \
    X(Client_AddressableDevices)                                                                   \
    X(Client_LookupDevice)                                                                         \
    X(Client_LookupAddressableDevice)                                                              \
    X(Client_AddressableMemories)                                                                  \
    X(Client_Compile)                                                                              \
    X(Client_DefaultDeviceAssignment)                                                              \
    X(Client_BufferFromHostBuffer)                                                                 \
    X(DeviceDescription_Id)                                                                        \
    X(DeviceDescription_ProcessIndex)                                                              \
    X(DeviceDescription_Attributes)                                                                \
    X(DeviceDescription_Kind)                                                                      \
    X(DeviceDescription_DebugString)                                                               \
    X(DeviceDescription_ToString)                                                                  \
    X(Device_GetDescription)                                                                       \
    X(Device_IsAddressable)                                                                        \
    X(Device_LocalHardwareId)                                                                      \
    X(Device_AddressableMemories)                                                                  \
    X(Device_DefaultMemory)                                                                        \
    X(Device_MemoryStats)                                                                          \
    X(Memory_Id)                                                                                   \
    X(Memory_Kind)                                                                                 \
    X(Memory_DebugString)                                                                          \
    X(Memory_ToString)                                                                             \
    X(Memory_AddressableByDevices)                                                                 \
    X(Executable_Destroy)                                                                          \
    X(Executable_Name)                                                                             \
    X(Executable_NumReplicas)                                                                      \
    X(Executable_NumPartitions)                                                                    \
    X(Executable_NumOutputs)                                                                       \
    X(Executable_SizeOfGeneratedCodeInBytes)                                                       \
    X(Executable_GetCostAnalysis)                                                                  \
    X(Executable_OutputMemoryKinds)                                                                \
    X(Executable_OptimizedProgram)                                                                 \
    X(Executable_Serialize)                                                                        \
    X(LoadedExecutable_Destroy)                                                                    \
    X(LoadedExecutable_GetExecutable)                                                              \
    X(LoadedExecutable_AddressableDevices)                                                         \
    X(LoadedExecutable_Delete)                                                                     \
    X(LoadedExecutable_IsDeleted)                                                                  \
    X(LoadedExecutable_Execute)                                                                    \
    X(Executable_DeserializeAndLoad)                                                               \
    X(LoadedExecutable_Fingerprint)                                                                \
    X(Buffer_Destroy)                                                                              \
    X(Buffer_ElementType)                                                                          \
    X(Buffer_Dimensions)                                                                           \
    X(Buffer_UnpaddedDimensions)                                                                   \
    X(Buffer_DynamicDimensionIndices)                                                              \
    X(Buffer_GetMemoryLayout)                                                                      \
    X(Buffer_OnDeviceSizeInBytes)                                                                  \
    X(Buffer_Device)                                                                               \
    X(Buffer_Memory)                                                                               \
    X(Buffer_Delete)                                                                               \
    X(Buffer_IsDeleted)                                                                            \
    X(Buffer_CopyToDevice)                                                                         \
    X(Buffer_ToHostBuffer)                                                                         \
    X(Buffer_IsOnCpu)                                                                              \
    X(Buffer_ReadyEvent)                                                                           \
    X(Buffer_UnsafePointer)                                                                        \
    X(Buffer_IncreaseExternalReferenceCount)                                                       \
    X(Buffer_DecreaseExternalReferenceCount)                                                       \
    X(Buffer_OpaqueDeviceMemoryDataPointer)                                                        \
    X(CopyToDeviceStream_Destroy)                                                                  \
    X(CopyToDeviceStream_AddChunk)                                                                 \
    X(CopyToDeviceStream_TotalBytes)                                                               \
    X(CopyToDeviceStream_GranuleSize)                                                              \
    X(CopyToDeviceStream_CurrentBytes)                                                             \
    X(TopologyDescription_Create)                                                                  \
    X(TopologyDescription_Destroy)                                                                 \
    X(TopologyDescription_PlatformName)                                                            \
    X(TopologyDescription_PlatformVersion)                                                         \
    X(TopologyDescription_GetDeviceDescriptions)                                                   \
    X(TopologyDescription_Serialize)                                                               \
    X(TopologyDescription_Attributes)                                                              \
    X(Compile)                                                                                     \
    X(Executable_OutputElementTypes)                                                               \
    X(Executable_OutputDimensions)                                                                 \
    X(Buffer_CopyToMemory)                                                                         \
    X(Client_CreateViewOfDeviceBuffer)                                                             \
    X(Executable_Fingerprint)                                                                      \
    X(Client_TopologyDescription)                                                                  \
    X(Executable_GetCompiledMemoryStats)                                                           \
    X(Memory_Kind_Id)                                                                              \
    X(ExecuteContext_Create)                                                                       \
    X(ExecuteContext_Destroy)                                                                      \
    X(Buffer_CopyRawToHost)                                                                        \
    X(AsyncHostToDeviceTransferManager_Destroy)                                                    \
    X(AsyncHostToDeviceTransferManager_TransferData)                                               \
    X(Client_CreateBuffersForAsyncHostToDevice)                                                    \
    X(AsyncHostToDeviceTransferManager_RetrieveBuffer)                                             \
    X(AsyncHostToDeviceTransferManager_Device)                                                     \
    X(AsyncHostToDeviceTransferManager_BufferCount)                                                \
    X(AsyncHostToDeviceTransferManager_BufferSize)                                                 \
    X(AsyncHostToDeviceTransferManager_SetBufferError)                                             \
    X(AsyncHostToDeviceTransferManager_AddMetadata)                                                \
    X(Client_DmaMap)                                                                               \
    X(Client_DmaUnmap)                                                                             \
    X(Client_CreateUninitializedBuffer)                                                            \
    X(Client_UpdateGlobalProcessInfo)                                                              \
    X(TopologyDescription_Deserialize)                                                             \
    X(Client_CreateAliasBuffer)                                                                    \
    X(Client_FulfillAliasBuffer)                                                                   \
    X(LoadedExecutable_GetDeviceAssignment)

// Structs with their own size that arguments point to.
#define KEEL_BRIDGE_STRUCTS(X)                                                                     \
    X(NamedValue) X(ProcessInfo) X(Program) X(Buffer_MemoryLayout) X(ShapeSpec) X(ExecuteOptions)

// Where they occur: function, member, struct, how, and the member that counts them (for ONE: any).
// ONE is a pointer, ARRAY a pointer to several with the stride of the caller's compiler, POINTERS a
// pointer to pointers. What a plugin returns (attributes, properties) is missing: the client's
// stride is unknown.
#define KEEL_BRIDGE_NESTED(X)                                                                      \
    X(Client_Create, create_options, NamedValue, ARRAY, num_options)                               \
    X(Client_Compile, program, Program, ONE, struct_size)                                          \
    X(Client_BufferFromHostBuffer, device_layout, Buffer_MemoryLayout, ONE, struct_size)           \
    X(Executable_OptimizedProgram, program, Program, ONE, struct_size)                             \
    X(LoadedExecutable_Execute, options, ExecuteOptions, ONE, struct_size)                         \
    X(Buffer_ToHostBuffer, host_layout, Buffer_MemoryLayout, ONE, struct_size)                     \
    X(TopologyDescription_Create, create_options, NamedValue, ARRAY, num_options)                  \
    X(Compile, program, Program, ONE, struct_size)                                                 \
    X(Client_CreateViewOfDeviceBuffer, layout, Buffer_MemoryLayout, ONE, struct_size)              \
    X(Client_CreateBuffersForAsyncHostToDevice, shape_specs, ShapeSpec, ARRAY, num_shape_specs)    \
    X(Client_CreateBuffersForAsyncHostToDevice, device_layouts, Buffer_MemoryLayout, POINTERS,     \
      num_device_layouts)                                                                          \
    X(AsyncHostToDeviceTransferManager_AddMetadata, transfer_metadata, NamedValue, ARRAY,          \
      num_metadata)                                                                                \
    X(Client_CreateUninitializedBuffer, shape_layout, Buffer_MemoryLayout, ONE, struct_size)       \
    X(Client_UpdateGlobalProcessInfo, process_infos, ProcessInfo, ARRAY, num_process_infos)        \
    X(Client_CreateAliasBuffer, shape_layout, Buffer_MemoryLayout, ONE, struct_size)

// Arguments whose size clients state wrongly: function, the member that their header took for the
// last, and the real last one. The client has that member, and reads what a plugin writes there.
// PJRT_Plugin_Attributes_Args: up to a version between 0.70 and 0.74.
#define KEEL_BRIDGE_UNDERSTATED(X) X(Plugin_Attributes, attributes, num_attributes)

#endif // KEEL_PJRT_BRIDGE_TABLE_H_
