import * as z from 'zod';
import { instant, plan, published, usdc } from '../../spec/published.ts';

const steps = z.array(z.string());
const days = z.int().nullable();

export const dbStatus = published(
  z.strictObject({
    store: z.enum(['file', 'postgresql']),
    at: z.string().describe('The file, or database, host and user; no password.'),
    server_version: z.string().nullable(),
    status: z
      .enum(['current', 'empty', 'behind', 'newer'])
      .describe('behind: steps of this version are missing. newer: this version may neither read nor write it.'),
    version: z.string().describe('Of this farelock.'),
    bytes: z.number(),
    needs_reconcile: z.boolean().describe('It was put back: bookings, refunds and pay-outs wait for db reconcile.'),
    applied: steps.describe('In the order of their names.'),
    missing: steps,
    newer: steps.describe('Steps that only newer versions know, and that a version has to know.'),
    beside: steps.describe('Steps of newer versions that this one can go on beside.'),
    tables: z.array(
      z.strictObject({
        table: z.string(),
        rows: z.number().describe('Estimated on PostgreSQL.'),
        bytes: z.number().nullable().describe('With indexes; null: not read, as the file is large.'),
        keeps_days: days.describe('How long rows stay once they are over; null: for good.'),
        keeps_personal_data_days: days.describe('The rows stay without it; null: all of it follows the rows.'),
        setting: z.string().nullable().describe('What changes it; null: fixed.'),
        default_days: days,
      }),
    ),
  }),
);

export const dbMigrate = published(z.strictObject({ applied: steps, took_ms: z.int() }), {
  plan: plan({ missing: steps }),
});

export const dbCheck = published(
  z.strictObject({
    status: z.enum(['ok', 'failed']),
    checks: z.array(
      z.strictObject({
        id: z.string(),
        status: z.enum(['ok', 'failed']),
        found: z.array(z.string()).describe('At most ten.'),
      }),
    ),
  }),
);

const copied = z.strictObject({
  file: z.string(),
  encrypted: z.boolean().describe('With a passphrase, which the keys are only kept with.'),
  files: z.array(z.strictObject({ name: z.string() })),
});

export const dbBackup = published(copied, { plan: plan({}) });
export const dbRestore = published(copied, { plan: plan({}) });

export const dbReconcile = published(
  z.strictObject({
    status: z.enum(['same', 'differed', 'needed']).describe('needed: only noted, by --needed.'),
    dry_run: z.boolean().describe('true: nothing was written, and the database waits as before.'),
    since: instant.nullable().describe('The moment from which the database may lack rows.'),
    counts: z.record(z.string(), z.int()).describe('All findings, by kind.'),
    findings: z
      .array(
        z.strictObject({
          kind: z.string(),
          subject: z.string().describe('An intent, an escrow, an order, a wallet or a pay-out.'),
          state: z.string().nullable().describe('In the database, or on the chain where the database knows nothing.'),
          amount: usdc.nullable(),
          transaction: z.string().nullable(),
          outcome: z
            .enum(['carried_on', 'noted', 'person'])
            .describe('carried_on: the service goes on from there. noted: nothing follows. person: see todo.'),
          todo: z.string().nullable(),
        }),
      )
      .describe('At most 200, those for a person first.'),
  }),
);
