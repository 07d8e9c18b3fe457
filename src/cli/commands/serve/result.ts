import * as z from 'zod';
import { PROVIDERS } from '../../../kernel/domain/providers.ts';
import { network, published } from '../../spec/published.ts';

const airline = z.strictObject({
  provider: z.enum(PROVIDERS),
  mode: z.enum(['test', 'live']).describe('live: seats of real airlines are paid for.'),
  lowcost: z.enum(['none', 'sandbox', 'browser']),
});

const metrics_url = z.url().nullable().describe('/metrics for Prometheus. null: --metrics was not given.');

export const worker = published(
  z.strictObject({ network, metrics_url, airline: airline.describe('Whose seats are ordered.') }),
);

export const serve = published(
  z.strictObject({
    flights_url: z.url().nullable().describe('null: --cluster-only.'),
    partner_url: z.url().nullable(),
    rpc_url: z.url(),
    /** Subscriptions of the embedded cluster; null for any other cluster. */
    rpc_ws_url: z.url().nullable(),
    rpc_urls: z.array(z.url()),
    metrics_url,
    network,
    genesis: z
      .string()
      .nullable()
      .describe('Hash of the first block of the cluster that was named, or of a private one that is served here.'),
    operator_key_file: z.string().nullable(),
    airline: airline.nullable().describe('Whose seats are sold. null: --cluster-only.'),
  }),
);
