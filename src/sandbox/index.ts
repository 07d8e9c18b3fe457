import { sql } from 'kysely';
import type { PartnerDemo } from '../partner/base/index.ts';
import { loadEmbedded, PLATFORM_DUE } from './platform/index.ts';

/** A demo's people, attesters and platform, loaded on demand. */
export const partnerDemo: PartnerDemo = {
  seed: async (ports) => (await import('./partners/index.ts')).ensureSeed(ports),
  // Outside a demo, a person attests.
  attest: async (type, data) => (await import('./attesters.ts')).sandboxAttest(type, data),
  answer: async (ports, request) => (await loadEmbedded()).answerEmbedded(ports, request),
  updates: {
    due: () => sql`select cast(nullif(value, '') as bigint) from meta where key = ${PLATFORM_DUE}`,
    runDue: async (ports) => (await loadEmbedded()).moveEmbedded(ports),
  },
};
