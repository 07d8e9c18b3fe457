import { describe, expect, test } from 'vitest';
import {
  type Acceptance,
  assess,
  type Facts,
  inputKey,
  type Requirement,
  type Run,
  type Submission,
} from '../../../src/partner/compliance/compliance.ts';
import type { DataType } from '../../../src/wire/partner/kinds.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 21, 12);
const NONE: Facts = { submissions: [], runs: [], acceptances: [] };
const TERMS = { version: '1', termsUrl: 'https://t.example/1', privacyPolicyUrl: 'https://p.example/1' };

const limits = { maxAgeDays: null, network: null };
const data = (type: DataType, more: Partial<Requirement> = {}) =>
  ({ ...limits, ...more, kind: 'data', type }) as Requirement;
const attestation = (type: Run['type'], more: Partial<Requirement> = {}) =>
  ({ ...limits, ...more, kind: 'attestation', type }) as Requirement;

let ranks = 0;
const given = (type: DataType, more: Partial<Submission> = {}): Submission => ({
  dataId: `dat_${++ranks}`,
  type,
  network: null,
  rank: ranks,
  submittedAtMs: NOW,
  expiresAtMs: null,
  ...more,
});
const ran = (type: Run['type'], inputs: readonly Submission[], more: Partial<Run> = {}): Run => ({
  attestationId: `att_${++ranks}`,
  type,
  inputKey: inputKey(inputs.map(({ dataId }) => dataId)),
  rank: ranks,
  state: 'passed',
  finishedAtMs: NOW,
  ...more,
});

const judge = (asked: readonly Requirement[], facts: Partial<Facts>, nowMs = NOW, final: Run['type'][] = []) =>
  assess(asked, { ...NONE, ...facts }, nowMs, new Set(final));
const status = (...of: Parameters<typeof judge>) => judge(...of).status.replace('COMPLIANCE_STATUS_', '');
const states = (...of: Parameters<typeof judge>) =>
  Object.fromEntries(judge(...of).judged.map((one) => [one.requirement.type, one.standing.state]));

test('who is asked for nothing has met it all', () => {
  expect(status([], {})).toBe('SUCCESS');
});

test('pending until all is in, processing while an attestation runs, then success or rejected', () => {
  const asked = [data('NAME'), attestation('VALIDATED_EMAIL')];
  const [name, email] = [given('NAME'), given('EMAIL')];
  const running = ran('VALIDATED_EMAIL', [email], { state: 'running', finishedAtMs: null });
  expect(status(asked, {})).toBe('PENDING');
  expect(status(asked, { submissions: [name] })).toBe('PENDING');
  expect(status(asked, { submissions: [email], runs: [running] })).toBe('PENDING');
  expect(status(asked, { submissions: [name, email] })).toBe('PROCESSING');
  expect(status(asked, { submissions: [name, email], runs: [running] })).toBe('PROCESSING');
  const ended = (state: Run['state']) => ({
    submissions: [name, email],
    runs: [{ ...running, state, finishedAtMs: NOW }],
  });
  expect(status(asked, ended('passed'))).toBe('SUCCESS');
  expect(status(asked, ended('rejected'))).toBe('REJECTED');
});

test('an attestation asks for the data it looks at, and the same thing asked twice is asked once', () => {
  const { judged } = judge([attestation('AML_CHECK'), data('NAME'), attestation('AML_CHECK')], {});
  expect(judged.map(({ requirement }) => requirement.type)).toEqual(['NAME', 'BIRTH_DATE', 'NATIONALITY', 'AML_CHECK']);
});

describe('maxAgeDays', () => {
  const asked = [data('EMAIL', { maxAgeDays: 30 })];
  const email = given('EMAIL');
  test('data is valid through its last moment, and is asked for again after it', () => {
    expect(status(asked, { submissions: [email] }, NOW + 30 * DAY_MS)).toBe('SUCCESS');
    expect(status(asked, { submissions: [email] }, NOW + 30 * DAY_MS + 1)).toBe('PENDING');
  });
  test('of two limits the stricter one holds', () => {
    const both = [...asked, data('EMAIL', { maxAgeDays: 5 }), data('EMAIL')];
    expect(status(both, { submissions: [email] }, NOW + 6 * DAY_MS)).toBe('PENDING');
  });
  test('a clock that was set back makes nothing old', () => {
    expect(status(asked, { submissions: [email] }, NOW - 400 * DAY_MS)).toBe('SUCCESS');
  });
  test('an attestation that has grown old runs again by itself, its data being there', () => {
    const yearly = [attestation('VALIDATED_EMAIL', { maxAgeDays: 365 })];
    const facts = { submissions: [email], runs: [ran('VALIDATED_EMAIL', [email])] };
    expect(status(yearly, facts, NOW + 365 * DAY_MS)).toBe('SUCCESS');
    expect(states(yearly, facts, NOW + 366 * DAY_MS)).toEqual({ EMAIL: 'met', VALIDATED_EMAIL: 'due' });
  });
});

test('a document that has expired does not count, and neither does an older one that has not', () => {
  const old = given('ID_DOCUMENT', { expiresAtMs: NOW + 900 * DAY_MS });
  const latest = given('ID_DOCUMENT', { expiresAtMs: NOW + DAY_MS });
  const facts = { submissions: [latest, old] };
  expect(status([data('ID_DOCUMENT')], facts)).toBe('SUCCESS');
  expect(status([data('ID_DOCUMENT')], facts, NOW + DAY_MS)).toBe('PENDING');
});

test('the latest submission counts, by its rank and not by a clock', () => {
  const first = given('NAME', { submittedAtMs: NOW + DAY_MS });
  const second = given('NAME', { submittedAtMs: NOW });
  expect(judge([data('NAME')], { submissions: [second, first] }).judged[0]?.dataIds).toEqual([second.dataId]);
});

test('several wallets count side by side, each for its own network', () => {
  const solana = given('CRYPTO_WALLET', { network: 'SOLANA' });
  const bitcoin = given('CRYPTO_WALLET', { network: 'BITCOIN' });
  const facts = { submissions: [solana, bitcoin] };
  const on = (network: 'SOLANA' | 'TRON') => [data('CRYPTO_WALLET', { network })];
  expect(judge([data('CRYPTO_WALLET')], facts).judged[0]?.dataIds).toEqual([bitcoin.dataId, solana.dataId]);
  expect(judge(on('SOLANA'), facts).judged[0]?.dataIds).toEqual([solana.dataId]);
  expect(status(on('TRON'), facts)).toBe('PENDING');
});

test('an attestation is about the very data it looked at: other data is attested anew', () => {
  const [old, other] = [given('EMAIL'), given('EMAIL')];
  const facts = { submissions: [old, other], runs: [ran('VALIDATED_EMAIL', [old])] };
  expect(states([attestation('VALIDATED_EMAIL')], facts)).toEqual({ EMAIL: 'met', VALIDATED_EMAIL: 'due' });
});

describe('after a rejection', () => {
  const document = given('ID_DOCUMENT');
  const name = given('NAME');
  const rejected = ran('VALIDATED_ID_DOCUMENT', [document, name], { state: 'rejected' });
  const asked = [data('NAME'), attestation('VALIDATED_ID_DOCUMENT')];
  test('what is to be given again is shown as not there, the rest is not', () => {
    const { judged, status: whole } = judge(asked, { submissions: [document, name], runs: [rejected] });
    const shown = Object.fromEntries(judged.map((one) => [one.requirement.type, one.dataIds.length]));
    expect(whole).toBe('COMPLIANCE_STATUS_REJECTED');
    expect(shown).toMatchObject({ NAME: 1, ID_DOCUMENT: 0 });
  });
  test('other data opens it again, and the same data does not', () => {
    const again = given('ID_DOCUMENT');
    expect(status(asked, { submissions: [document, name, again], runs: [rejected] })).toBe('PROCESSING');
    const same = { ...document, submittedAtMs: NOW + 1, rank: 999_999 };
    expect(status(asked, { submissions: [same, name], runs: [rejected] })).toBe('REJECTED');
  });
  test('a final one stands whatever is sent, until an operator has passed it', () => {
    const again = given('ID_DOCUMENT');
    const facts = { submissions: [document, name, again], runs: [rejected] };
    expect(status(asked, facts, NOW, ['VALIDATED_ID_DOCUMENT'])).toBe('REJECTED');
    const passed = { ...rejected, state: 'passed' as const };
    expect(status(asked, { ...facts, runs: [passed] }, NOW, ['VALIDATED_ID_DOCUMENT'])).toBe('PROCESSING');
  });
});

test('terms are agreed to in one version at its addresses, and no longer than they may', () => {
  const asked = (more: object = {}) =>
    [{ ...limits, kind: 'attestation', type: 'TERMS', terms: TERMS, ...more }] as Requirement[];
  const acceptance: Acceptance = { ...TERMS, acceptedAtMs: NOW };
  expect(status(asked(), {})).toBe('PENDING');
  expect(status(asked(), { acceptances: [acceptance] })).toBe('SUCCESS');
  expect(status(asked(), { acceptances: [{ ...acceptance, version: '0' }] })).toBe('PENDING');
  expect(status(asked(), { acceptances: [{ ...acceptance, termsUrl: 'https://t.example/2' }] })).toBe('PENDING');
  expect(status(asked({ maxAgeDays: 1 }), { acceptances: [acceptance] }, NOW + 2 * DAY_MS)).toBe('PENDING');
});
