import type { ToolSpec } from '../spec/index.ts';
import { affiliateCreate, affiliateShow } from './affiliate/spec.ts';
import { airports } from './airports/spec.ts';
import { attestationsDecide, attestationsList, attestationsShow } from './attestations/spec.ts';
import { auditList } from './audit/spec.ts';
import { book } from './book/spec.ts';
import { clusterCheck, clusterDeploy, clusterFund, clusterKeys } from './cluster/spec.ts';
import { completion } from './completion/spec.ts';
import {
  configGet,
  configList,
  configProfileAdd,
  configProfileList,
  configProfileRemove,
  configProfileUse,
  configSet,
  configUnset,
} from './config/spec.ts';
import { demo } from './demo/spec.ts';
import { doctor } from './doctor/spec.ts';
import { explain } from './explain/spec.ts';
import { guided } from './guided/spec.ts';
import { help } from './help/spec.ts';
import { intentCreate, intentList, intentShow, intentVerify } from './intent/spec.ts';
import {
  keysIssue,
  keysList,
  keysPartnerIssue,
  keysPartnerList,
  keysPartnerRevoke,
  keysPartnerRotate,
  keysRevoke,
  keysToken,
} from './keys/spec.ts';
import { mcp } from './mcp/spec.ts';
import { offer } from './offer/spec.ts';
import { order } from './order/spec.ts';
import {
  partnerOffers,
  partnerOrdersApply,
  partnerOrdersCreate,
  partnerOrdersList,
  partnerOrdersShow,
  partnerOrdersUpdate,
  partnerOrdersWatch,
  partnerPlatform,
} from './partner/spec.ts';
import { paymentsList, paymentsResume, paymentsShow, paymentsVerify } from './payments/spec.ts';
import {
  refundApprove,
  refundClaim,
  refundDesk,
  refundNote,
  refundQueue,
  refundReject,
  refundRequest,
  refundShow,
} from './refund/spec.ts';
import {
  partnerRequirementsAdd,
  requirementsAcceptTerms,
  requirementsList,
  requirementsSubmit,
} from './requirements/spec.ts';
import { sandboxCarrierSite, sandboxDuffel } from './sandbox/spec.ts';
import { schema } from './schema/spec.ts';
import { search, searchUpdates } from './search/spec.ts';
import { serve } from './serve/spec.ts';
import { status } from './status/spec.ts';
import { stuckList, stuckResolve, stuckShow } from './stuck/spec.ts';
import { turnSwitch } from './switch/spec.ts';
import { travellersAdd, travellersList, travellersRemove, travellersShow } from './travellers/spec.ts';
import { upgrade } from './upgrade/spec.ts';
import {
  walletAirdrop,
  walletBalance,
  walletHistory,
  walletLimitsSet,
  walletLimitsShow,
  walletNew,
  walletShow,
} from './wallet/spec.ts';

/** The table of contents of the tool: every command, in the order of the help. Nothing that a command runs is loaded here. */
export const TOOL: ToolSpec = {
  summary: 'Search flights, lock a fare in a Solana escrow, book it and follow it.',
  examples: [
    'farelock demo',
    'farelock search LIS BER --depart +30d',
    'farelock intent <offer-id>',
    'farelock book <intent-id> --passengers passengers.json',
  ],
  groups: {
    intent: 'Lock a fare and open its escrow',
    wallet: 'The wallet that pays',
    payments: 'Payments made from here',
    affiliate: 'Codes that earn a share of the platform fee',
    refund: 'Ask for a refund; operators: decide on requests',
    stuck: 'Operators: cases that need a decision',
    attestations: "Operators: decide on customers' attestations",
    audit: 'Operators: who did what',
    cluster: 'The Solana cluster of a service: program, wallets, deployment',
    keys: 'Operator and partner keys, customer tokens',
    partner: 'Ramp orders, offers and requirements of a partner',
    'partner orders': 'List, create, update and follow orders',
    'partner requirements': 'Extra requirements for one customer',
    requirements: "A customer's requirements and compliance status",
    'keys partner': 'API keys of partners',
    config: 'Settings and profiles',
    'config profile': 'The services that commands use',
    'wallet limits': 'Spending limits, with and without asking you',
    travellers: 'Saved travellers, encrypted in this home',
    sandbox: 'Sandboxes of companies that Farelock buys from',
  },
  sections: {
    'Fly:': [
      search,
      searchUpdates,
      airports,
      offer,
      intentCreate,
      intentShow,
      intentList,
      intentVerify,
      book,
      status,
      order,
      refundRequest,
      refundQueue,
      refundShow,
      refundClaim,
      refundNote,
      refundApprove,
      refundReject,
      refundDesk,
      travellersList,
      travellersAdd,
      travellersShow,
      travellersRemove,
    ],
    'Money:': [
      walletNew,
      walletShow,
      walletBalance,
      walletAirdrop,
      walletHistory,
      walletLimitsShow,
      walletLimitsSet,
      paymentsList,
      paymentsShow,
      paymentsVerify,
      paymentsResume,
      affiliateCreate,
      affiliateShow,
    ],
    'Ramp:': [
      partnerOrdersList,
      partnerOrdersShow,
      partnerOrdersCreate,
      partnerOrdersUpdate,
      partnerOrdersApply,
      partnerOrdersWatch,
      partnerOffers,
      partnerRequirementsAdd,
      partnerPlatform,
      requirementsList,
      requirementsSubmit,
      requirementsAcceptTerms,
    ],
    'Run and learn:': [
      configList,
      configGet,
      configSet,
      configUnset,
      configProfileList,
      configProfileAdd,
      configProfileUse,
      configProfileRemove,
      stuckList,
      stuckShow,
      stuckResolve,
      attestationsList,
      attestationsShow,
      attestationsDecide,
      turnSwitch,
      auditList,
      keysList,
      keysIssue,
      keysRevoke,
      keysPartnerList,
      keysPartnerIssue,
      keysPartnerRevoke,
      keysPartnerRotate,
      keysToken,
      guided,
      demo,
      serve,
      sandboxCarrierSite,
      sandboxDuffel,
      clusterDeploy,
      clusterCheck,
      clusterKeys,
      clusterFund,
      doctor,
      explain,
      schema,
      completion,
      mcp,
      upgrade,
      help,
    ],
  },
};
