class Split:
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def batches(self, size):
        for start in range(0, len(self.images), size):
            rows = slice(start, start + size)
            yield {"image": self.images[rows], "label": self.labels[rows]}
