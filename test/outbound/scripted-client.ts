// An HTTP client whose socket is simulated by the test: it reports any event of a request, in any order and at any moment, and
// records what it is asked to do.
import type { IncomingHttpHeaders } from "node:http";
import { Dispatcher } from "undici";

export class ScriptedClient extends Dispatcher {
  /** `pause`, `resume` and `abort`, as they were asked for. */
  readonly asked: string[] = [];
  readonly requests: Dispatcher.DispatchOptions[] = [];
  /** What it says before `resume` returns, as the real one does with what it holds. */
  onResume: () => void = () => undefined;
  readonly #controller: Dispatcher.DispatchController = {
    aborted: false,
    paused: false,
    reason: null,
    abort: () => void this.asked.push("abort"),
    pause: () => void this.asked.push("pause"),
    resume: () => {
      this.asked.push("resume");
      this.onResume();
    },
  };
  #handler: Dispatcher.DispatchHandler | null = null;

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.requests.push(options);
    this.#handler = handler;
    return true;
  }

  start(): void {
    this.#current.onRequestStart?.(this.#controller, null);
  }

  head(status: number, headers: IncomingHttpHeaders = {}): void {
    this.#current.onResponseStart?.(this.#controller, status, headers);
  }

  data(chunk: string | Buffer): void {
    this.#current.onResponseData?.(this.#controller, Buffer.from(chunk));
  }

  end(): void {
    this.#current.onResponseEnd?.(this.#controller, {});
  }

  fail(error: Error): void {
    this.#current.onResponseError?.(this.#controller, error);
  }

  get #current(): Dispatcher.DispatchHandler {
    if (this.#handler === null) throw new Error("nothing was asked of this client");
    return this.#handler;
  }
}
