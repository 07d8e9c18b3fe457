import { run, type ToolSpec, was } from '../spec/index.ts';
import { affiliateCreate, affiliateShow } from './affiliate/spec.ts';
import { airports } from './airports/spec.ts';
import * as attestations from './attestations/spec.ts';
import { auditList } from './audit/spec.ts';
import { book } from './book/spec.ts';
import * as cluster from './cluster/spec.ts';
import { completion } from './completion/spec.ts';
import * as config from './config/spec.ts';
import * as db from './db/spec.ts';
import { demo } from './demo/spec.ts';
import { doctor } from './doctor/spec.ts';
import { explain } from './explain/spec.ts';
import { guided } from './guided/spec.ts';
import { help } from './help/spec.ts';
import * as intent from './intent/spec.ts';
import * as keys from './keys/spec.ts';
import { mcp } from './mcp/spec.ts';
import { offer } from './offer/spec.ts';
import { order } from './order/spec.ts';
import * as partner from './partner/spec.ts';
import * as payments from './payments/spec.ts';
import * as recipe from './recipe/spec.ts';
import * as refund from './refund/spec.ts';
import * as requirements from './requirements/spec.ts';
import * as sandbox from './sandbox/spec.ts';
import { schema } from './schema/spec.ts';
import { search, searchUpdates } from './search/spec.ts';
import { serve, worker } from './serve/spec.ts';
import { status } from './status/spec.ts';
import * as stuck from './stuck/spec.ts';
import { turnSwitch } from './switch/spec.ts';
import * as travellers from './travellers/spec.ts';
import { upgrade } from './upgrade/spec.ts';
import * as wallet from './wallet/spec.ts';
import * as watch from './watch/spec.ts';

/** The table of contents of the tool: every command in the order of the help, and its code, loaded when it runs. */
export const TOOL: ToolSpec = {
  summary: 'Search flights, lock a fare in a Solana escrow, book it and follow it.',
  examples: [
    'farelock demo',
    'farelock search LIS BER --depart +30d',
    'farelock intent <offer-id>',
    'farelock book <intent-id> --passengers passengers.json',
  ],
  overview: [
    ['Book', 'search <from> <to>', 'Search flights of a day; 0.10 USDC and up'],
    ['Book', 'intent <#>', 'Lock a fare of the list; 0.10 USDC'],
    ['Book', 'book <intent-id>', 'Pay the fare and book it'],
    ['Book', 'travellers', 'Save passengers for the next booking'],
    ['Follow', 'status <intent-id>', 'See where the money is; --verify checks the chain'],
    ['Follow', 'order <intent-id>', 'See the ticket; 0.01 USDC'],
    ['Follow', 'intent list', 'List your locks and bookings'],
    ['Refund', 'refund <intent-id>', 'Ask for a refund; 0.10 USDC'],
    ['Partners', 'partner orders', 'List, create, update and follow ramp orders'],
    ['Partners', 'requirements', "See and complete a customer's requirements"],
    ['Operate', 'serve', 'Run the services'],
    ['Operate', 'refund desk', 'Decide on refund requests'],
    ['Operate', 'stuck', 'Decide on cases that need a person'],
    ['Set up', 'demo', 'Try everything with play money'],
    ['Set up', 'wallet', 'The wallet that pays, and its limits'],
    ['Set up', 'payments list', 'List what was paid'],
    ['Set up', 'config', 'Settings and profiles'],
    ['Set up', 'doctor', 'Check this installation'],
    ['Options', '--json [fields]', 'Print one JSON document'],
    ['Options', '-y, --yes', 'Answer yes to questions'],
    ['Options', '--dry-run', 'Show what would be done, without doing it'],
    ['Options', '-h, --help', 'Help on a command; help --all lists everything'],
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
    db: "The services' database",
    config: 'Settings and profiles',
    'config profile': 'The services that commands use',
    'wallet limits': 'Spending limits, with and without asking you',
    travellers: 'Saved travellers, encrypted in this home',
    recipe: "Operators: recipes for carriers' web sites",
    sandbox: 'Sandboxes of companies that Farelock works with',
  },
  sections: {
    'Book, follow, refund:': [
      run(search, async () => (await import('./search/run.ts')).search),
      run(searchUpdates, async () => (await import('./search/updates.ts')).searchUpdates),
      run(watch.watch, async () => (await import('./watch/run.ts')).watch),
      run(watch.watchList, async () => (await import('./watch/run.ts')).watchList),
      run(watch.watchResume, async () => (await import('./watch/run.ts')).watchResume),
      run(watch.watchHistory, async () => (await import('./watch/run.ts')).watchHistory),
      run(watch.watchEnd, async () => (await import('./watch/run.ts')).watchEnd),
      run(airports, async () => (await import('./airports/run.ts')).airports),
      run(offer, async () => (await import('./offer/run.ts')).offer),
      run(intent.intentCreate, async () => (await import('./intent/create.ts')).intentCreate),
      run(intent.intentList, async () => (await import('./intent/run.ts')).intentList),
      run(book, async () => (await import('./book/run.ts')).book),
      run(status, async () => (await import('./status/run.ts')).status),
      run(order, async () => (await import('./order/run.ts')).order),
      run(refund.refundRequest, async () => (await import('./refund/request.ts')).refundRequest),
      run(refund.refundQueue, async () => (await import('./refund/run.ts')).refundQueue),
      run(refund.refundShow, async () => (await import('./refund/run.ts')).refundShow),
      run(refund.refundClaim, async () => (await import('./refund/claim.ts')).refundClaim),
      run(refund.refundNote, async () => (await import('./refund/run.ts')).refundNote),
      run(refund.refundApprove, async () => (await import('./refund/run.ts')).refundApprove),
      run(refund.refundReject, async () => (await import('./refund/run.ts')).refundReject),
      run(refund.refundDesk, async () => (await import('./refund/desk.ts')).refundDesk),
      run(travellers.travellersList, async () => (await import('./travellers/run.ts')).travellersList),
      run(travellers.travellersAdd, async () => (await import('./travellers/run.ts')).travellersAdd),
      run(travellers.travellersShow, async () => (await import('./travellers/run.ts')).travellersShow),
      run(travellers.travellersRemove, async () => (await import('./travellers/run.ts')).travellersRemove),
      run(guided, async () => (await import('./guided/run.ts')).guided),
    ],
    'Pay:': [
      run(wallet.walletNew, async () => (await import('./wallet/run.ts')).walletNew),
      run(wallet.walletShow, async () => (await import('./wallet/run.ts')).walletShow),
      run(wallet.walletBalance, async () => (await import('./wallet/balance.ts')).walletBalance),
      run(wallet.walletAirdrop, async () => (await import('./wallet/balance.ts')).walletAirdrop),
      run(wallet.walletLimitsShow, async () => (await import('./wallet/limits.ts')).limitsShow),
      run(wallet.walletLimitsSet, async () => (await import('./wallet/limits.ts')).limitsSet),
      run(payments.paymentsList, async () => (await import('./payments/run.ts')).paymentsList),
      run(payments.paymentsShow, async () => (await import('./payments/run.ts')).paymentsShow),
      run(payments.paymentsVerify, async () => (await import('./payments/verify.ts')).paymentsVerify),
      run(payments.paymentsResume, async () => (await import('./payments/resume.ts')).paymentsResume),
      run(affiliateCreate, async () => (await import('./affiliate/run.ts')).affiliateCreate),
      run(affiliateShow, async () => (await import('./affiliate/run.ts')).affiliateShow),
    ],
    'Partners:': [
      run(partner.partnerOrdersList, async () => (await import('./partner/run.ts')).ordersList),
      run(partner.partnerOrdersShow, async () => (await import('./partner/run.ts')).orderShow),
      run(partner.partnerOrdersCreate, async () => (await import('./partner/offers.ts')).orderCreate),
      run(partner.partnerOrdersUpdate, async () => (await import('./partner/update.ts')).orderUpdate),
      run(partner.partnerOrdersApply, async () => (await import('./partner/apply.ts')).ordersApply),
      run(partner.partnerOrdersWatch, async () => (await import('./partner/watch.ts')).orderWatch),
      run(partner.partnerOffers, async () => (await import('./partner/offers.ts')).partnerOffers),
      run(requirements.partnerRequirementsAdd, async () => (await import('./requirements/run.ts')).requirementAdd),
      run(requirements.requirementsList, async () => (await import('./requirements/run.ts')).requirementsList),
      run(requirements.requirementsSubmit, async () => (await import('./requirements/run.ts')).requirementsSubmit),
      run(
        requirements.requirementsAcceptTerms,
        async () => (await import('./requirements/run.ts')).requirementsAcceptTerms,
      ),
    ],
    'Operate:': [
      run(stuck.stuckList, async () => (await import('./stuck/run.ts')).stuckList),
      run(stuck.stuckShow, async () => (await import('./stuck/run.ts')).stuckShow),
      run(stuck.stuckResolve, async () => (await import('./stuck/run.ts')).stuckResolve),
      run(attestations.attestationsList, async () => (await import('./attestations/run.ts')).attestationsList),
      run(attestations.attestationsShow, async () => (await import('./attestations/run.ts')).attestationShow),
      run(attestations.attestationsDecide, async () => (await import('./attestations/run.ts')).attestationDecide),
      run(turnSwitch, async () => (await import('./switch/run.ts')).turnSwitch),
      run(auditList, async () => (await import('./audit/run.ts')).auditList),
      run(keys.keysList, async () => (await import('./keys/run.ts')).keysList),
      run(keys.keysIssue, async () => (await import('./keys/run.ts')).keysIssue),
      run(keys.keysRevoke, async () => (await import('./keys/run.ts')).keysRevoke),
      run(keys.keysPartnerList, async () => (await import('./keys/run.ts')).partnerKeysList),
      run(keys.keysPartnerIssue, async () => (await import('./keys/run.ts')).partnerKeysIssue),
      run(keys.keysPartnerRevoke, async () => (await import('./keys/run.ts')).partnerKeysRevoke),
      run(keys.keysPartnerRotate, async () => (await import('./keys/run.ts')).partnerKeysRotate),
      run(keys.keysToken, async () => (await import('./keys/run.ts')).customerTokenIssue),
      run(serve, async () => (await import('./serve/run.ts')).serve),
      run(worker, async () => (await import('./serve/run.ts')).worker),
      run(db.dbStatus, async () => (await import('./db/run.ts')).dbStatus),
      run(db.dbMigrate, async () => (await import('./db/run.ts')).dbMigrate),
      run(db.dbCheck, async () => (await import('./db/run.ts')).dbCheck),
      run(db.dbBackup, async () => (await import('./db/run.ts')).dbBackup),
      run(db.dbRestore, async () => (await import('./db/run.ts')).dbRestore),
      run(db.dbReconcile, async () => (await import('./db/reconcile.ts')).dbReconcile),
      run(recipe.recipeNew, async () => (await import('./recipe/run.ts')).recipeNew),
      run(recipe.recipeCheck, async () => (await import('./recipe/run.ts')).recipeCheck),
      run(recipe.recipeRecord, async () => (await import('./recipe/record.ts')).recipeRecord),
      run(recipe.recipeTry, async () => (await import('./recipe/try.ts')).recipeTry),
      run(recipe.recipeDoctor, async () => (await import('./recipe/doctor.ts')).recipeDoctor),
      run(sandbox.sandboxCarrierSite, async () => (await import('./sandbox/run.ts')).sandboxCarrierSite),
      run(sandbox.sandboxDuffel, async () => (await import('./sandbox/run.ts')).sandboxDuffel),
      run(sandbox.sandboxPlatform, async () => (await import('./sandbox/run.ts')).sandboxPlatform),
      run(cluster.clusterDeploy, async () => (await import('./cluster/deploy.ts')).clusterDeploy),
      run(cluster.clusterCheck, async () => (await import('./cluster/run.ts')).clusterCheck),
      run(cluster.clusterKeys, async () => (await import('./cluster/run.ts')).clusterKeys),
      run(cluster.clusterRotate, async () => (await import('./cluster/rotate.ts')).clusterRotate),
      run(cluster.clusterFund, async () => (await import('./cluster/run.ts')).clusterFund),
    ],
    'Set up:': [
      run(demo, async () => (await import('./demo/run.ts')).demo),
      run(config.configList, async () => (await import('./config/run.ts')).configList),
      run(config.configShow, async () => (await import('./config/run.ts')).configShow),
      run(config.configGet, async () => (await import('./config/run.ts')).configGet),
      run(config.configSet, async () => (await import('./config/run.ts')).configSet),
      run(config.configUnset, async () => (await import('./config/run.ts')).configUnset),
      run(config.configProfileList, async () => (await import('./config/profile.ts')).profileList),
      run(config.configProfileAdd, async () => (await import('./config/profile.ts')).profileAdd),
      run(config.configProfileUse, async () => (await import('./config/profile.ts')).profileUse),
      run(config.configProfileRemove, async () => (await import('./config/profile.ts')).profileRemove),
      run(doctor, async () => (await import('./doctor/run.ts')).doctor),
      run(explain, async () => (await import('./explain/run.ts')).explain),
      run(schema, async () => (await import('./schema/run.ts')).schema),
      run(completion, async () => (await import('./completion/run.ts')).completion),
      run(mcp, async () => (await import('./mcp/run.ts')).mcp),
      run(upgrade, async () => (await import('./upgrade/run.ts')).upgrade),
      run(help, async () => (await import('./help/run.ts')).help),
    ],
  },
  old: [
    was(
      'search-updates',
      'search updates <search-id>',
      run(searchUpdates, async () => (await import('./search/updates.ts')).searchUpdates),
    ),
    was(
      'intent show',
      'status <intent-id>',
      run(intent.intentShow, async () => (await import('./intent/run.ts')).intentShow),
    ),
    was(
      'intent verify',
      'status <intent-id> --verify',
      run(intent.intentVerify, async () => (await import('./intent/verify.ts')).intentVerify),
    ),
    was(
      'wallet history',
      'payments list --chain',
      run(payments.walletHistory, async () => (await import('./payments/history.ts')).walletHistory),
    ),
    was(
      'partner platform',
      'sandbox platform',
      run(sandbox.sandboxPlatform, async () => (await import('./sandbox/run.ts')).sandboxPlatform),
    ),
  ],
};
