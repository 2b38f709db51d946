"""Ways to stop a training: a decoder that fails, a callback that presses Ctrl-C."""


class FailsAfter:
    """Of a task: its decoder raises `error` at the call number `after`."""

    def setup(self, X, Y):
        super().setup(X, Y)
        self.calls_ = 0

    def argmax(self, w, x, y=None):
        self.calls_ += 1
        if self.calls_ == self.after:
            raise self.error("out of order")
        return super().argmax(w, x, y)


def interrupt_at(step):
    steps = []

    def callback(record):
        steps.append(record)
        if len(steps) == step:
            raise KeyboardInterrupt

    return callback
