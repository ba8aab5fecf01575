// The return value of a call: a promise of the parsed answer that can also give access to the response.
import type { ClientReply } from "./call.ts";

export interface AnswerPromise<T> extends Promise<T> {
  /** The answer with its request id and its response, for the headers. */
  withResponse(): Promise<ClientReply<T>>;
}

export function answerPromise<T>(pendingAnswer: Promise<ClientReply<T>>): AnswerPromise<T> {
  const data = pendingAnswer.then((answer) => answer.data);
  return Object.assign(data, {
    withResponse: () => {
      // Prevents an unhandled rejection: this promise is no longer awaited.
      data.catch(() => undefined);
      return pendingAnswer;
    },
  });
}
