// How many bytes of request bodies one process holds, and how many of them may be one app's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { GatewayError } from "../../src/contract/errors.ts";
import { type BodyPlace, createAdmission } from "../../src/gateway/admission.ts";

const ROOM = { file: 1_000, memory: 100 };
const open = (isClosing = false) => {
  const admission = createAdmission(() => isClosing, ROOM);
  return (owner: string, bytes: number, place: BodyPlace = "memory") => admission.enter({ owner, place, bytes });
};
const OVERLOADED = (error: unknown) =>
  error instanceof GatewayError && error.code === "OVERLOADED" && error.retryAfterSeconds === 5;

test("api.admission: bodies in memory and in files each have a room of their own", () => {
  const enter = open();
  enter("one", 75);
  assert.throws(() => enter("one", 1), OVERLOADED);
  enter("one", 750, "file");
  assert.throws(() => enter("one", 1, "file"), OVERLOADED);
});

test("api.admission-fair: one app alone fills three quarters of a room; the last quarter is for apps that hold at most a quarter", () => {
  const enter = open();
  enter("loud", 75);
  assert.throws(() => enter("loud", 1), OVERLOADED);
  enter("quiet", 20);
  enter("another", 5);
  assert.throws(() => enter("quiet", 1), OVERLOADED);
});

test("api.admission: a refused body holds nothing, and one that ends frees its room once", () => {
  const enter = open();
  const first = enter("one", 70);
  assert.throws(() => enter("one", 10), OVERLOADED);
  enter("one", 5);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  enter("one", 70);
  assert.throws(() => enter("one", 1), OVERLOADED);
});

test("api.admission-unsaid: a body of undeclared length counts as it arrives, and is refused where there is no more room", () => {
  const enter = open();
  enter("one", 60);
  const body = enter("one", 0);
  body.received(10);
  body.received(15);
  assert.throws(() => body.received(16), OVERLOADED);
  assert.throws(() => enter("one", 1), OVERLOADED);
  body[Symbol.dispose]();
  enter("one", 15);
});

test("api.admission: an announced body is not counted again as it arrives", () => {
  const enter = open();
  const body = enter("one", 75);
  body.received(40);
  body.received(75);
  body[Symbol.dispose]();
  enter("one", 75);
});

test("api.shutting-down: once the process no longer listens no body is admitted: SHUTTING_DOWN", () => {
  const enter = open(true);
  assert.throws(() => enter("one", 0), { code: "SHUTTING_DOWN" });
});
