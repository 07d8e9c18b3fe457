import type { ToolSpec } from '../spec/command.ts';
import { affiliateCreate, affiliateShow } from './affiliate/spec.ts';
import { airports } from './airports/spec.ts';
import { attestationsDecide, attestationsList, attestationsShow } from './attestations/spec.ts';
import { auditList } from './audit/spec.ts';
import { book } from './book/spec.ts';
import { clusterCheck, clusterFund, clusterKeys } from './cluster/spec.ts';
import { clusterDeploy } from './cluster-deploy/spec.ts';
import { completion } from './completion/spec.ts';
import { configGet, configList, configSet, configUnset } from './config/spec.ts';
import {
  configProfileAdd,
  configProfileList,
  configProfileRemove,
  configProfileUse,
} from './config-profile/spec.ts';
import { demo } from './demo/spec.ts';
import { doctor } from './doctor/spec.ts';
import { explain } from './explain/spec.ts';
import { guided } from './guided/spec.ts';
import { help } from './help/spec.ts';
import { intentCreate } from './intent-create/spec.ts';
import { intentList } from './intent-list/spec.ts';
import { intentShow } from './intent-show/spec.ts';
import { intentVerify } from './intent-verify/spec.ts';
import { keysIssue, keysList, keysRevoke } from './keys/spec.ts';
import { mcp } from './mcp/spec.ts';
import { offer } from './offer/spec.ts';
import { order } from './order/spec.ts';
import { partnerOrdersApply } from './partner-apply/spec.ts';
import {
  keysPartnerIssue,
  keysPartnerList,
  keysPartnerRevoke,
  keysPartnerRotate,
  keysToken,
} from './partner-keys/spec.ts';
import { partnerOffers, partnerOrdersCreate } from './partner-offers/spec.ts';
import { partnerOrdersList, partnerOrdersShow } from './partner-orders/spec.ts';
import { partnerPlatform } from './partner-platform/spec.ts';
import { partnerOrdersUpdate } from './partner-update/spec.ts';
import { partnerOrdersWatch } from './partner-watch/spec.ts';
import { paymentsList, paymentsShow } from './payments/spec.ts';
import { paymentsResume } from './payments-resume/spec.ts';
import { paymentsVerify } from './payments-verify/spec.ts';
import { refundApprove, refundNote, refundQueue, refundReject, refundShow } from './refund-cases/spec.ts';
import { refundClaim } from './refund-claim/spec.ts';
import { refundDesk } from './refund-desk/spec.ts';
import { refundRequest } from './refund-request/spec.ts';
import {
  partnerRequirementsAdd,
  requirementsAcceptTerms,
  requirementsList,
  requirementsSubmit,
} from './requirements/spec.ts';
import { sandboxCarrierSite } from './sandbox-carrier-site/spec.ts';
import { sandboxDuffel } from './sandbox-duffel/spec.ts';
import { schema } from './schema/spec.ts';
import { search } from './search/spec.ts';
import { searchUpdates } from './search-updates/spec.ts';
import { serve } from './serve/spec.ts';
import { status } from './status/spec.ts';
import { stuckList, stuckResolve, stuckShow } from './stuck/spec.ts';
import { turnSwitch } from './switch/spec.ts';
import { travellersAdd, travellersList, travellersRemove, travellersShow } from './travellers/spec.ts';
import { upgrade } from './upgrade/spec.ts';
import { walletAirdrop } from './wallet-airdrop/spec.ts';
import { walletBalance } from './wallet-balance/spec.ts';
import { walletHistory } from './wallet-history/spec.ts';
import { walletLimitsSet, walletLimitsShow } from './wallet-limits/spec.ts';
import { walletNew } from './wallet-new/spec.ts';
import { walletShow } from './wallet-show/spec.ts';

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
