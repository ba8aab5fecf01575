// The worker thread of `transcript-thread.ts`: receives a transcript in slices, returns the result in slices.
import { type MessagePort, parentPort } from "node:worker_threads";
import { receiveInSlices, sendInSlices } from "../../lib/concurrency/slice-transfer.ts";
import { captionText } from "./caption-text.ts";
import { finishTranscript } from "./finish-transcript.ts";
import type { ThreadAnswer, ThreadTask, TranscriptTask } from "./transcript-thread.ts";

const parent = parentPort;
if (parent === null) throw new Error("this file is run as a thread");

// A failure ends the thread, and `transcript-thread.ts` finishes the transcript itself.
parent.on("message", (task: ThreadTask) => void work(parent, task));

async function work(main: MessagePort, { port, messages }: ThreadTask): Promise<void> {
  const result = resultOf((await receiveInSlices(port, messages)) as TranscriptTask);
  main.postMessage((await sendInSlices(port, result)) satisfies ThreadAnswer);
  port.close();
}

function resultOf(task: TranscriptTask): object {
  return task.kind === "caption"
    ? { text: captionText(task) }
    : finishTranscript(task, task.wanted, task.durationSeconds);
}
