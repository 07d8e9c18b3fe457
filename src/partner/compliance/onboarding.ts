import type {
  CustomerRequirement,
  GetOnboardingRequirementsResponse,
} from '../../wire/partner/requirements.ts';
import type { Store, Tx } from '../tables.ts';
import type { Assessment, Judged } from './compliance.ts';
import { shown } from './shown-data.ts';
import type { Submissions } from './submissions.ts';

/** Of several accounts or wallets, so many are shown. */
const MOST_SHOWN = 20;

/**
 * Lists a customer's requirements (spec/partner-service.md, Customer requirement). A data requirement stays in the
 * list once it is met, with what was given, masked; one whose `data` is empty is to be done. The form has no place for consent
 * that was given, so terms are listed only while they are to be accepted; and an attestation shows through the data
 * that it looks at.
 */
export async function onboardingOf(
  store: Store | Tx,
  submissions: Submissions,
  customerId: string,
  { status, judged }: Assessment,
): Promise<GetOnboardingRequirementsResponse> {
  const requirements: CustomerRequirement[] = [];
  for (const one of listed(judged)) {
    const { requirement } = one;
    if (requirement.kind === 'data') {
      requirements.push({
        dataRequirement: {
          type: requirement.type,
          data: await dataOf(one),
          config: requirement.network === null ? null : { network: requirement.network },
        },
      });
    } else if (requirement.type === 'TERMS') {
      const { termsUrl, privacyPolicyUrl } = requirement.terms;
      requirements.push({ attestationRequirement: { terms: { termsUrl, privacyPolicyUrl } } });
    }
  }
  return { requirements, complianceStatus: status };

  async function dataOf({ dataIds }: Judged) {
    const data: Record<string, unknown>[] = [];
    for (const dataId of dataIds.slice(0, MOST_SHOWN)) {
      const value = await submissions.open(store, customerId, dataId, { files: false });
      if (value) data.push(shown(value));
    }
    return data;
  }
}

const listed = (judged: readonly Judged[]): readonly Judged[] =>
  judged.filter(
    ({ requirement, standing }) =>
      requirement.kind === 'data' || (requirement.type === 'TERMS' && standing.state !== 'met'),
  );
