// Where the log goes: written beside the work, never by it. Whoever collects the log may stall, and the gateway goes on; what does
// not fit into memory meanwhile is lost, counted, and told as soon as lines flow again.
import { destination, type DestinationStream } from "pino";

const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Lines go out together: a write costs more than a line. None waits longer than the second, and all go out at the process's end. */
const WRITE_BYTES = 8_192;
const WRITE_EVERY_MS = 100;
const WARN = 40;

export function logDestination(fileDescriptor: number): DestinationStream {
  const stream = destination({
    dest: fileDescriptor,
    sync: false,
    minLength: WRITE_BYTES,
    periodicFlush: WRITE_EVERY_MS,
    maxLength: MAX_WAITING_BYTES,
  });
  let lost = 0;
  stream.on("drop", () => {
    lost += 1;
  });
  stream.on("drain", () => {
    if (lost === 0) return;
    const line = { level: WARN, time: new Date().toISOString(), event: "log_lines_lost", lost };
    lost = 0;
    stream.write(`${JSON.stringify(line)}\n`);
  });
  // A disk that is full ends nobody's request: unheard, the failure of one write would end the process. The line goes out with the next.
  stream.on("error", () => undefined);
  return stream;
}
