import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onPath } from './on-path.ts';

const python = onPath('python3');
/** Reason why tests of systemd notifications are skipped, for their titles. */
export const noNotifySocket =
  python && onPath('systemd-notify') ? '' : ' (skipped: systemd-notify and python3 are not both on PATH)';
if (noNotifySocket) console.warn(`Skipping tests of systemd notifications${noNotifySocket}.`);

/**
 * Receives datagrams, which Node.js cannot, prints each as a line of JSON, and closes the file that signals its
 * arrival.
 */
const RECEIVER = `
import array, json, os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print(json.dumps("listening"), flush=True)
while True:
    text, anc, flags, _ = s.recvmsg(4096, socket.CMSG_SPACE(64))
    for level, type, data in anc:
        if type == socket.SCM_RIGHTS:
            for fd in array.array("i", data[: len(data) - len(data) % 4]):
                os.close(fd)
    print(json.dumps(text.decode()), flush=True)
`;

/** A receiver of systemd notifications: the socket and the messages so far. */
export class NotifySocket {
  /** Every assignment, such as READY=1, in order. */
  readonly assignments: string[] = [];
  readonly path: string;
  readonly #receiver: ChildProcess;

  private constructor(path: string, receiver: ChildProcess) {
    this.path = path;
    this.#receiver = receiver;
  }

  /** @param path of the socket */
  static async open(path: string): Promise<NotifySocket> {
    if (!python) throw new Error('no python3 on PATH');
    const receiver = spawn(python, ['-c', RECEIVER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const socket = new NotifySocket(path, receiver);
    const lines = createInterface({ input: receiver.stdout });
    const listening = once(lines, 'line');
    lines.on('line', (line) => socket.assignments.push(...String(JSON.parse(line)).trim().split('\n')));
    await listening;
    socket.assignments.length = 0;
    return socket;
  }

  close(): void {
    this.#receiver.kill();
  }
}
