// The entity names that Deepgram's `redact` accepts individually. It refuses `cardinal`, `ordinal` and `percent`.
export const REDACTABLE_ENTITIES: ReadonlySet<string> = new Set(
  `account_number age bank_account blood_type condition credit_card credit_card_expiration cvv date date_interval dob dose
   driver_license drug duration email_address event filename gender gender_sexuality healthcare_number injury ip_address language
   location location_address location_address_street location_city location_coordinate location_country location_state
   location_zip marital_status medical_code medical_process money name name_family name_given name_medical_professional
   numerical_pii occupation organization organization_id organization_medical_facility origin passport_number password
   phone_number physical_attribute political_affiliation product religion routing_number sexuality ssn statistics time url
   username vehicle_id zodiac_sign`.split(/\s+/),
);
