// Shows a message while an answer takes long.
import { byId } from "../page/element.ts";

const LONG_MS = 1_500;
const line = byId("waiting", HTMLElement);
let late = 0;

export async function saidWhile<T>(pending: Promise<T>): Promise<T> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    change(1);
  }, LONG_MS);
  try {
    return await pending;
  } finally {
    clearTimeout(timer);
    if (isLate) change(-1);
  }
}

function change(by: 1 | -1): void {
  late += by;
  line.textContent = late === 0 ? "" : "Waiting for the gateway …";
}
