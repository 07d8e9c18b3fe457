import { argument, command } from '../../spec/define.ts';
import { choiceOption } from '../../spec/options.ts';

const VERDICTS = ['passed', 'rejected'] as const;

export const attestationsList = command({
  name: 'attestations list',
  summary: 'What waits, and what was rejected',
  isDefault: true,
  effect: 'reads',
  examples: ['farelock attestations', 'farelock attestations --json attestation_id,type'],
  result: { list: 'attestations', schema: async () => (await import('./result.ts')).attestationsList },
  load: async () => (await import('./run.ts')).attestationsList,
});

export const attestationsShow = command({
  name: 'attestations show',
  summary: 'One, with the customer data that it is about; the look is in the audit trail',
  arguments: [argument('<attestation-id>')],
  effect: 'reads',
  examples: ['farelock attestations show att_…'],
  result: { schema: async () => (await import('./result.ts')).attestationsShow },
  load: async () => (await import('./run.ts')).attestationShow,
});

export const attestationsDecide = command({
  name: 'attestations decide',
  summary: "A person's verdict, also against an earlier one; asks first",
  arguments: [
    argument('<attestation-id>'),
    argument('<verdict>', VERDICTS.join(', '), choiceOption('verdict', VERDICTS)),
  ],
  effect: 'changes',
  examples: ['farelock attestations decide att_… passed'],
  result: { schema: async () => (await import('./result.ts')).attestationsDecide },
  cutOff: { look: 'attestations show {id}' },
  load: async () => (await import('./run.ts')).attestationDecide,
});
