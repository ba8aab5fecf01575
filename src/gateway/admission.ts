// Overload protection: how many request bodies this process holds at once, judged before a body is read (contract 1,
// step 1; reliability figures: 8 GiB of bodies on disk). Above it the answer is 503 and the body stays unread.
import { GatewayError } from "../contract/errors.ts";

const MAX_BODY_BYTES_IN_FLIGHT = 8 * 1024 ** 3;

export interface Admission {
  /** `expectedBytes` is the declared length, at most the cap, which it is when none is declared. Returns the release. */
  enter(expectedBytes: number): () => void;
}

/** `isClosing`: nothing new is taken any more. While a process only drains, what still reaches it is served. */
export function createAdmission(isClosing: () => boolean, maxBytesInFlight = MAX_BODY_BYTES_IN_FLIGHT): Admission {
  let bytesInFlight = 0;
  return {
    enter: (expectedBytes) => {
      if (isClosing())
        throw new GatewayError("SHUTTING_DOWN", {
          message: "This process is shutting down. Retry: another one will answer.",
        });
      if (bytesInFlight + expectedBytes > maxBytesInFlight) {
        throw new GatewayError("OVERLOADED", {
          message: "The gateway holds as many uploads as it can. Retry in a few seconds.",
          retryAfterSeconds: 5,
        });
      }
      bytesInFlight += expectedBytes;
      let left = false;
      return () => {
        if (left) return;
        left = true;
        bytesInFlight -= expectedBytes;
      };
    },
  };
}
