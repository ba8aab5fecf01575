// A caller in a thread of its own, which can write while the thread of the server reads nothing: one request on a connection that was there
// before, one on a new one. Both are then in the kernel, the second with its connection still in the queue.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { parentPort, Worker, workerData } from "node:worker_threads";

interface CallerData {
  readonly port: number;
  readonly request: string;
  /** 0; 1: send now; 2: sent. */
  readonly flag: Int32Array;
}

export interface KernelCaller extends AsyncDisposable {
  /** Returns when both requests are written; nothing of this thread runs meanwhile. */
  sendBoth(): void;
  /** What was received on each until it was closed. */
  answers(): Promise<readonly string[]>;
}

export async function startKernelCaller(port: number, request: string): Promise<KernelCaller> {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(import.meta.filename, { workerData: { port, request, flag } satisfies CallerData });
  await once(worker, "message");
  const answered = once(worker, "message");
  return {
    sendBoth: () => {
      Atomics.store(flag, 0, 1);
      Atomics.notify(flag, 0);
      Atomics.wait(flag, 0, 1);
    },
    answers: async () => (await answered)[0] as readonly string[],
    [Symbol.asyncDispose]: async () => void (await worker.terminate()),
  };
}

if (parentPort !== null) await call(workerData as CallerData, (message) => parentPort?.postMessage(message));

async function call({ port, request, flag }: CallerData, tell: (message: unknown) => void): Promise<void> {
  const kept = await opened(port);
  tell("connected");
  await Atomics.waitAsync(flag, 0, 0).value;
  const fresh = await opened(port);
  const answers = [kept, fresh].map((socket) => text(socket).catch((error: Error) => error.message));
  await Promise.all([kept, fresh].map((socket) => new Promise((resolve) => socket.write(request, resolve))));
  Atomics.store(flag, 0, 2);
  Atomics.notify(flag, 0);
  tell(await Promise.all(answers));
}

async function opened(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await once(socket, "connect");
  return socket;
}
