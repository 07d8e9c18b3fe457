import {
  ACTING_PARTNER,
  argument,
  command,
  FOR_CUSTOMER,
  IN_LIVE,
  integerOption,
  named,
  option,
} from '../../spec/index.ts';

export const partnerRequirementsAdd = command({
  name: 'partner requirements add',
  summary: 'Require data or an attestation',
  arguments: [argument('<customer-id>')],
  options: [
    option('--data <type>', 'EMAIL, ID_DOCUMENT, PROOF_OF_ADDRESS, …', named),
    option('--attestation <type>', 'AML_CHECK, LIVENESS_CHECK, TERMS, …', named),
    option('--max-age-days <n>', 'maximum age in days', integerOption(1, 3_650)),
    ACTING_PARTNER,
    IN_LIVE,
  ],
  effect: 'changes',
  examples: ['farelock partner requirements add cus_demo_ana --attestation AML_CHECK'],
  cutOff: { look: 'requirements list --customer {customerId}' },
});

export const requirementsList = command({
  name: 'requirements list',
  summary: 'List what is required and what was given; `requirements` for short',
  isDefault: true,
  options: [FOR_CUSTOMER, ACTING_PARTNER],
  effect: 'reads',
  examples: ['farelock requirements'],
});

export const requirementsSubmit = command({
  name: 'requirements submit',
  summary: 'Submit customer data: JSON, - for standard input; "@passport.jpg" names a file',
  arguments: [argument('<file>')],
  options: [FOR_CUSTOMER, ACTING_PARTNER, IN_LIVE],
  effect: 'changes',
  examples: ['farelock requirements submit data.json'],
  cutOff: { look: 'requirements list' },
});

export const requirementsAcceptTerms = command({
  name: 'requirements accept-terms',
  summary: 'Show the current terms and accept them',
  options: [
    option('--terms-url <url>', 'accept these terms, which were read before; does not ask'),
    FOR_CUSTOMER,
    ACTING_PARTNER,
  ],
  effect: 'changes',
  examples: ['farelock requirements accept-terms'],
  cutOff: { look: 'requirements list' },
});
