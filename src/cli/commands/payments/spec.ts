import { argument, command, integerOption, option } from '../../spec/index.ts';

export const paymentsList = command({
  name: 'payments list',
  summary: 'List payments made from here, newest first',
  options: [
    option('--chain', 'every movement of the wallet as the cluster has it: refunds and deposits too'),
    option('--limit <n>', 'how many to show (100; 20 with --chain)', integerOption(1, 1_000_000)),
  ],
  effect: 'reads',
  examples: ['farelock payments list', 'farelock payments list --chain --limit 20'],
  list: 'payments',
});

export const walletHistory = command({
  name: 'wallet history',
  summary: 'List USDC moving in and out of the wallet, from the cluster',
  options: [option('--limit <n>', 'how many to show', integerOption(1, 1000), 20)],
  effect: 'reads',
  examples: ['farelock wallet history'],
  list: 'history',
});

export const paymentsShow = command({
  name: 'payments show',
  summary: 'Show one payment',
  arguments: [argument('<payment-id>')],
  effect: 'reads',
  examples: ['farelock payments show pay_…'],
});

export const paymentsResume = command({
  name: 'payments resume',
  summary: 'Send an unanswered payment again; nothing new is signed',
  arguments: [argument('<payment-id>')],
  effect: 'pays',
  examples: ['farelock payments resume pay_…'],
});

export const paymentsVerify = command({
  name: 'payments verify',
  summary: 'Check one payment, or the newest, on the cluster',
  arguments: [argument('[payment-id]')],
  options: [option('--limit <n>', 'how many to check', integerOption(1, 1_000_000), 100)],
  effect: 'reads',
  examples: ['farelock payments verify', 'farelock payments verify pay_…'],
  list: 'payments',
});
