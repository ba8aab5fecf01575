// Maps the redaction groups to AssemblyAI's policy names (docs/guardrails/redact-pii-from-transcripts). Pure data.
import type { RedactionGroup } from "../../contract/features.ts";

const PCI = [
  "account_number",
  "banking_information",
  "credit_card_cvv",
  "credit_card_expiration",
  "credit_card_number",
];
const PHI = ["blood_type", "drug", "healthcare_number", "injury", "medical_condition", "medical_process"];

export const REDACTION_POLICIES: Readonly<Record<RedactionGroup, readonly string[]>> = {
  pii: [
    "date_of_birth",
    "drivers_license",
    "email_address",
    "gender_sexuality",
    "ip_address",
    "location",
    "marital_status",
    "nationality",
    "passport_number",
    "password",
    "person_age",
    "person_name",
    "phone_number",
    "physical_attribute",
    "political_affiliation",
    "religion",
    "url",
    "us_social_security_number",
    "username",
    "vehicle_id",
    "zodiac_sign",
    ...PCI,
  ],
  pci: PCI,
  phi: [...PHI, "date_of_birth", "person_age", "person_name", "us_social_security_number"],
  // "Any sequence of numbers equal to or greater than 2". Numbers with a meaning have policies of their own.
  numbers: [
    "number_sequence",
    "account_number",
    "credit_card_cvv",
    "credit_card_number",
    "healthcare_number",
    "passport_number",
    "phone_number",
    "us_social_security_number",
  ],
};
