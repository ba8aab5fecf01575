// The tests that run on the oldest supported PostgreSQL too, by story: files, or folders with a slash at the end. Data, and the only place
// that names them (scripts/test.ts).
export const CORE: Readonly<Record<string, readonly string[]>> = {
  storage: ["test/storage/", "test/queue/", "test/metering/"],
};
