"""A command in a terminal of its own."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading

SECONDS = 600  # that only what hangs comes near


def take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def in_terminal(command, columns=80, keys=b"", after="", variables=None):
    """Gives what the command wrote and its exit code. `keys` are typed once it has written `after`."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, start_new_session=True,
                          preexec_fn=take_terminal, env=os.environ | (variables or {})) as process:
        written = bytearray()

        def read():
            typed = not keys
            try:
                while piece := os.read(ours, 4096):
                    written.extend(piece)
                    if not typed and after.encode() in written:
                        os.write(ours, keys)
                        typed = True
            except OSError:  # the terminal is closed
                pass

        reader = threading.Thread(target=read)
        reader.start()
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        # Not before: the close can overtake what was written last, and a reader then misses it.
        os.close(its)
        reader.join()
        os.close(ours)
    return written.decode(errors="replace").replace("\r\n", "\n"), process.returncode
