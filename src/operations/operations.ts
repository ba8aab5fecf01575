// The operator's commands, as `main.ts` passes them to the command line. Each is loaded on demand, because they share little code.
import type { Operations } from "../cli/operate/operations-commands.ts";
import type { OpenNetwork } from "./doctor/doctor-network.ts";
import type { ModelSources } from "./models/model-command.ts";

export function makeOperations(openNetwork: OpenNetwork, sources: ModelSources): Operations {
  return {
    apply: async (...args) => (await import("./apply.ts")).apply(...args),
    console: async (...args) => (await import("./console-link.ts")).consoleLink(...args),
    down: async (...args) => (await import("./down.ts")).down(...args),
    doctor: async (...args) => (await import("./doctor/doctor.ts")).doctor(...args, openNetwork),
    backup: async (...args) => (await import("./backup/backup.ts")).backup(...args),
    restore: async (...args) => (await import("./backup/restore.ts")).restore(...args),
    migrateStorage: async (...args) => (await import("./migrate-storage.ts")).migrateStorage(...args),
    auditVerify: async (...args) => (await import("./audit-verify.ts")).auditVerify(...args),
    explainRoute: async (...args) => (await import("./explain/explain-route.ts")).explainRoute(...args),
    rotateSecrets: async (...args) => (await import("./rotate-secrets.ts")).rotateSecrets(...args),
    alertsTest: async (...args) => (await import("./alerts.ts")).alertsTest(...args, openNetwork),
    alertsSecret: async (...args) => (await import("./alerts.ts")).alertsSecret(...args),
    models: {
      list: async (...args) => (await import("./models/list-models.ts")).listModels(...args, sources),
      pull: async (...args) => (await import("./models/pull-models.ts")).pullModels(...args, sources),
      verify: async (...args) => (await import("./models/verify-models.ts")).verifyModels(...args, sources),
      remove: async (...args) => (await import("./models/remove-models.ts")).removeModels(...args),
      import: async (...args) => (await import("./models/import-models.ts")).importModels(...args, sources),
    },
    verifyTranscript: async (...args) =>
      (await import("./models/verify-transcript.ts")).verifyTranscript(...args, sources),
    replacePepper: async (...args) => (await import("./replace-pepper.ts")).replacePepper(...args),
  };
}
