import * as z from 'zod';
import * as requirements from '../../../wire/partner/requirements.ts';
import { plan, published } from '../../spec/published.ts';

export const partnerRequirementsAdd = published(requirements.addCustomerRequirementResponse, {
  plan: plan({ request: requirements.addCustomerRequirementRequest }),
});

export const requirementsList = published(requirements.getOnboardingRequirementsResponse);

export const requirementsSubmit = published(requirements.submitCustomerDataResponse, { plan: plan({}) });

export const requirementsAcceptTerms = published(requirements.acceptTermsResponse, {
  plan: plan({ terms: z.array(z.strictObject({ termsUrl: z.string(), privacyPolicyUrl: z.string() })) }),
});
