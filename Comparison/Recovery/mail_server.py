"""A mail server on a free port of the loopback that takes every mail: mail_server.py [--delay SECONDS] [--folder FOLDER].

Prints its port when it listens. The answer to a mail's data comes after the delay. Mails are kept in the folder, if one is given, as
NUMBER.eml. It is small on purpose, so that what it costs the machine is small beside what is measured.
"""

import argparse
import asyncio
import os
import pathlib


class MailServer:
    def __init__(self, delay, folder):
        self.delay, self.folder, self.count = delay, folder, 0

    async def serve(self, reader, writer):
        def say(line):
            writer.write(line + b"\r\n")

        say(b"220 localhost ESMTP")
        try:
            while line := await reader.readline():
                verb = line[:4].upper().strip()
                if verb in (b"EHLO", b"HELO"):
                    say(b"250 localhost")
                elif verb == b"DATA":
                    say(b"354 go on")
                    message = await reader.readuntil(b"\r\n.\r\n")
                    await asyncio.sleep(self.delay)
                    self.keep(message[:-3])
                    say(b"250 kept")
                elif verb == b"QUIT":
                    say(b"221 bye")
                    break
                else:
                    say(b"250 OK")
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def keep(self, message):
        if self.folder:
            self.count += 1
            draft = self.folder / f".{self.count:06d}"
            draft.write_bytes(message.replace(b"\r\n..", b"\r\n."))
            os.replace(draft, self.folder / f"{self.count:06d}.eml")


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    server = await asyncio.start_server(MailServer(options.delay, options.folder).serve, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
