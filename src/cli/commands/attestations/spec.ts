import { argument, choiceOption, command, option } from '../../spec/index.ts';

export const attestationsList = command({
  name: 'attestations list',
  summary: 'List attestations that are waiting or rejected',
  isDefault: true,
  effect: 'reads',
  examples: ['farelock attestations', 'farelock attestations --json attestation_id,type'],
  list: 'attestations',
});

export const attestationsShow = command({
  name: 'attestations show',
  summary: 'Show an attestation with its customer data; the audit trail records who looked',
  arguments: [argument('<attestation-id>')],
  effect: 'reads',
  examples: ['farelock attestations show att_…'],
});

export const attestationsDecide = command({
  name: 'attestations decide',
  summary: 'Decide an attestation, even against an earlier decision; asks first',
  arguments: [
    argument('<attestation-id>'),
    argument('<verdict>', 'passed, rejected', choiceOption(['passed', 'rejected'])),
  ],
  options: [option('--reason <text>', 'why; only operators see it')],
  effect: 'changes',
  examples: [
    'farelock attestations decide att_… passed',
    'farelock attestations decide att_… rejected --reason "The photo is of another person."',
  ],
  cutOff: { look: 'attestations show {id}' },
});
