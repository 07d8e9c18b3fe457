import type { PartnerDemo } from '../partner/base/index.ts';
import { loadEmbedded, PLATFORM_DUE } from './platform/index.ts';

/** A demo's people, attesters and platform, loaded on demand. */
export const partnerDemo: PartnerDemo = {
  seed: async (ports) => (await import('./partners/index.ts')).ensureSeed(ports),
  // Elsewhere a person attests.
  attest: async (type, data) => (await import('./attesters.ts')).sandboxAttest(type, data),
  answer: async (ports, request) => (await loadEmbedded()).answerEmbedded(ports, request),
  updates: {
    async dueAtMs(store) {
      const row = await store.selectFrom('meta').select('value').where('key', '=', PLATFORM_DUE).executeTakeFirst();
      return row?.value ? Number(row.value) : null;
    },
    runDue: async (ports) => (await loadEmbedded()).moveEmbedded(ports),
  },
};
