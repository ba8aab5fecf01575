// What a call returns: a promise of its answer, and on demand of the response beside it.
import type { Answered } from "./call.ts";

export interface AnswerPromise<T> extends Promise<T> {
  /** The answer with its request id and the response whose headers it came with. */
  withResponse(): Promise<Answered<T>>;
}

export function answerPromise<T>(answered: Promise<Answered<T>>): AnswerPromise<T> {
  const data = answered.then((answer) => answer.data);
  return Object.assign(data, {
    withResponse: () => {
      // Nobody waits for this one any more.
      data.catch(() => undefined);
      return answered;
    },
  });
}
