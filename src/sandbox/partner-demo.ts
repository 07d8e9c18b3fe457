import type { PartnerDemo } from '../partner/base/ports.ts';
import { PLATFORM_DUE } from './platform/due.ts';

/** The people, attesters and platform of a partner service demo. Loads and touches nothing. */
export const partnerDemo: PartnerDemo = {
  seed: async (ports) => (await import('./partners/seed.ts')).ensureSeed(ports),
  // Where nobody else attests, a person does: in demo the sandbox.
  attest: async (type, data) => (await import('./attesters.ts')).sandboxAttest(type, data),
  answer: async (ports, request) => (await import('./platform/embedded.ts')).answerEmbedded(ports, request),
  updates: {
    async dueAtMs(store) {
      const row = await store
        .selectFrom('meta')
        .select('value')
        .where('key', '=', PLATFORM_DUE)
        .executeTakeFirst();
      return row?.value ? Number(row.value) : null;
    },
    load: async (ports) => {
      const { moveEmbedded } = await import('./platform/embedded.ts');
      return () => moveEmbedded(ports);
    },
  },
};
