// A database that does not answer before anything was dispatched is a refusal to be retried, not a fault (reliability G-10).
import { storageAway } from "../contract/errors.ts";
import { isAway } from "../storage/transact.ts";

export async function unlessAway<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isAway(error) ? storageAway(error) : error;
  }
}
