import type { Migration } from '../applied-steps.ts';

/** Columns that the audit log and the breaker of outbound requests gained later. */
export const outboundMigration: Migration = {
  name: '022_outbound',
  statements: [
    'alter table partner_outbound add column reason text',
    'alter table partner_outbound add column request_sealed text',
    'alter table partner_breakers add column probe_until_ms bigint not null default 0',
    'alter table partner_breakers add column calls bigint not null default 0',
    'alter table partner_breakers add column answered bigint not null default 0',
  ],
};
