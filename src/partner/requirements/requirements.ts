import { problem } from '../../kernel/problems.ts';
import { MOST_DATA_BODY_BYTES } from '../body.ts';
import { type Call, type Procedure, procedure } from '../call.ts';
import { sameTerms, type Terms } from '../compliance/compliance.ts';
import { createStanding } from '../compliance/standing.ts';
import { validateCustomerData } from '../customer-data/index.ts';
import type { PartnerPorts } from '../ports.ts';
import { addAcceptance } from './acceptances.ts';
import { onboardingOf } from './onboarding.ts';
import { addRequirement } from './partner-requirements.ts';
import {
  acceptTermsRequest,
  acceptTermsResponse,
  addCustomerRequirementRequest,
  addCustomerRequirementResponse,
  getOnboardingRequirementsRequest,
  getOnboardingRequirementsResponse,
  type SubmitCustomerDataRequest,
  submitCustomerDataRequest,
  submitCustomerDataResponse,
} from './requirement-schema.ts';
import { refuseExcess } from './submission-limits.ts';
import type { GivenData } from './submissions.ts';

const ABOUT = { kind: 'customer' } as const;

/**
 * Requirements and what fulfils them (spec/partner-service.md, AddCustomerRequirement and GetOnboardingRequirements;
 * CONTRACT, section 12). A change and the attestations that it makes possible are one transaction.
 */
export function requirementProcedures(ports: PartnerPorts): readonly Procedure[] {
  const standing = createStanding(ports);
  const { submissions } = standing;

  return [
    procedure({
      service: 'partner',
      name: 'AddCustomerRequirement',
      input: addCustomerRequirementRequest,
      output: addCustomerRequirementResponse,
      concerns: 'partner',
      writes: true,
      run: (call, input) =>
        call.write(async (tx) => {
          const requirementId = await addRequirement(ports, tx, call.partner.partnerId, input);
          await standing.settled(tx, input.customerId, ABOUT);
          return { requirementId };
        }),
    }),

    procedure({
      service: 'customer',
      name: 'GetOnboardingRequirements',
      input: getOnboardingRequirementsRequest,
      output: getOnboardingRequirementsResponse,
      concerns: 'customer',
      writes: false,
      async run(call) {
        const customerId = customerOf(call);
        const assessment = await standing.now(customerId, ABOUT);
        return onboardingOf(ports.store, submissions, customerId, assessment);
      },
    }),

    procedure({
      service: 'customer',
      name: 'SubmitCustomerData',
      input: submitCustomerDataRequest,
      output: submitCustomerDataResponse,
      concerns: 'customer',
      writes: true,
      mostBodyBytes: MOST_DATA_BODY_BYTES,
      async run(call, input) {
        const customerId = customerOf(call);
        const given = await validated(input, call.nowMs, ports.environment === 'demo');
        return call.write(async (tx) => {
          await refuseExcess(tx, standing.policy, customerId, given, call.nowMs);
          const items = await submissions.save(tx, customerId, given, call.nowMs);
          const { status } = await standing.settled(tx, customerId, ABOUT);
          return { items, complianceStatus: status };
        });
      },
    }),

    procedure({
      service: 'customer',
      name: 'AcceptTerms',
      input: acceptTermsRequest,
      output: acceptTermsResponse,
      concerns: 'customer',
      writes: true,
      run: (call, input) =>
        call.write(async (tx) => {
          const customerId = customerOf(call);
          const { judged } = await standing.assessed(tx, customerId, ABOUT);
          const asked = judged.flatMap(({ requirement, standing: { state } }) =>
            requirement.type === 'TERMS' && namedBy(requirement.terms, input)
              ? [{ terms: requirement.terms, met: state === 'met' }]
              : [],
          );
          if (asked.length === 0) {
            throw problem('terms_changed', { detail: { asked: judged.flatMap(termsIn) } });
          }
          const open = asked.filter(({ met }) => !met);
          for (const { terms } of open) {
            await addAcceptance(tx, {
              acceptanceId: ports.ids.next('att'),
              customerId,
              terms,
              atMs: call.nowMs,
            });
          }
          const { status } = await standing.settled(tx, customerId, ABOUT);
          return { complianceStatus: status };
        }),
    }),
  ];
}

/** The addresses that were sent are those of the terms: nobody agrees to a page that he was not shown. */
const namedBy = (terms: Terms, given: { termsUrl: string; privacyPolicyUrl?: string | undefined }): boolean =>
  sameTerms(terms, {
    version: terms.version,
    termsUrl: given.termsUrl,
    privacyPolicyUrl: given.privacyPolicyUrl ?? terms.privacyPolicyUrl,
  });

const termsIn = ({ requirement }: { requirement: { type: string; terms?: Terms } }) =>
  requirement.terms
    ? [{ termsUrl: requirement.terms.termsUrl, privacyPolicyUrl: requirement.terms.privacyPolicyUrl }]
    : [];

/** @throws Problem `invalid_request`, with every field of every item that is not valid; never a value */
async function validated(
  { data }: SubmitCustomerDataRequest,
  nowMs: number,
  testNetworks: boolean,
): Promise<GivenData[]> {
  const given: GivenData[] = [];
  const issues: { path: string; message: string }[] = [];
  for (const [index, item] of data.entries()) {
    const checked = await validateCustomerData(item, { nowMs, testNetworks });
    if ('issues' in checked) {
      for (const { path, message } of checked.issues)
        issues.push({ path: ['data', index, path].filter((part) => part !== '').join('.'), message });
    } else {
      given.push({ type: checked.kind, value: checked.data });
    }
  }
  if (issues.length > 0) throw problem('invalid_request', { detail: { issues } });
  return given;
}

function customerOf({ customerId }: Pick<Call, 'customerId'>): string {
  if (customerId === null) throw problem('customer_token_required');
  return customerId;
}
