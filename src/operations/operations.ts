// The operator's commands, as `main.ts` hands them to the command line. Each is loaded when it is called: what they need has little in common.
import type { Operations } from "../cli/operations-commands.ts";
import type { OpenNetwork } from "./doctor-network.ts";

export function makeOperations(openNetwork: OpenNetwork): Operations {
  return {
    apply: async (...given) => (await import("./apply.ts")).apply(...given),
    console: async (...given) => (await import("./console-link.ts")).consoleLink(...given),
    down: async (...given) => (await import("./down.ts")).down(...given),
    doctor: async (...given) => (await import("./doctor.ts")).doctor(...given, openNetwork),
    backup: async (...given) => (await import("./backup.ts")).backup(...given),
    restore: async (...given) => (await import("./restore.ts")).restore(...given),
    migrateStorage: async (...given) => (await import("./migrate-storage.ts")).migrateStorage(...given),
    auditVerify: async (...given) => (await import("./audit-verify.ts")).auditVerify(...given),
    explainRoute: async (...given) => (await import("./explain-route.ts")).explainRoute(...given),
    rotateSecrets: async (...given) => (await import("./rotate-secrets.ts")).rotateSecrets(...given),
    replacePepper: async (...given) => (await import("./replace-pepper.ts")).replacePepper(...given),
  };
}
