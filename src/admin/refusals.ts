// Creates the errors that all objects of the admin API share: not found, name already exists, still in use.
import { type ErrorDetails, GatewayError } from "../contract/errors.ts";

export function noSuch(what: string): GatewayError {
  return new GatewayError("NOT_FOUND", { message: `There is no such ${what}.` });
}

export function alreadyExists(what: string): GatewayError {
  return new GatewayError("CONFLICT", {
    message: `The name is already used by another ${what}. Choose another one.`,
    details: { reason: "exists" },
  });
}

export function inUse(what: string, by: string, details: ErrorDetails = {}): GatewayError {
  return new GatewayError("CONFLICT", {
    message: `The ${what} is in use: ${by}. Change that first.`,
    details: { ...details, reason: "in_use" },
  });
}
