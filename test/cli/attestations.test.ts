import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Service } from '../../src/service/index.ts';
import { openService } from '../../src/service/index.ts';
import { worldClock } from '../clock.ts';
import { callerOf, pathOf } from '../partner/stack.ts';
import { webOf } from '../web.ts';
import { type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';

/** In live a person attests: the operator is paged with ids alone, and decides with the tool. */

const DATA = [
  { name: { firstName: 'Hildegard', lastName: 'Ejemplo' } },
  { birthDate: { date: '1991-02-03' } },
  { nationality: { country: 'DEU' } },
  { email: { value: 'hildegard@example.com' } },
];

const { home, close } = temporaryHome();
let service: Service;
let key = '';
let token = '';

const run = (line: string, options: MemoryOptions = {}) =>
  runInMemory(line.split(' '), { ...options, environment: { FARELOCK_HOME: home, FARELOCK_ENVIRONMENT: 'live' } });
const call = callerOf((request) => webOf(service.fetch)(request));
const customer = async <T>(operation: string, body: object) =>
  (await call<T>(pathOf('customer', operation), body, { key, token })).body;
const status = async () =>
  (await customer<{ complianceStatus: string }>('GetOnboardingRequirements', {})).complianceStatus;
const pages = () =>
  readFileSync(join(home, 'outbox', 'pages.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; text: string; fields: Record<string, string> });

beforeAll(async () => {
  service = await openService({ home, partnerEnvironment: 'live', clock: worldClock });
  const operatorKey = readFileSync(await service.operatorKeyFile(), 'utf8').trim();
  const operate = async (path: string, body: object) =>
    (await call(`/operator/${path}`, body, { headers: { authorization: `Bearer ${operatorKey}` } })).body;
  const web = (path: string) => `https://platform.example/${path}`;
  await operate('partners', {
    partner_id: 'par_live',
    name: 'Live',
    type: 'INTEGRATION',
    platform_url: web('v1'),
    icon: web('icon.svg'),
    terms_url: web('terms'),
    privacy_policy_url: web('privacy'),
    offering: { rails: [] },
  });
  await operate('customers', { customer_id: 'cus_live', country: 'DEU', partner_ids: ['par_live'] });
  key = String((await operate('partner-keys', { partner_id: 'par_live', name: 'test' })).key);
  token = String((await operate('customer-tokens', { customer_id: 'cus_live' })).token);
  await customer('SubmitCustomerData', { data: DATA });
  const { requirements } = await customer<{ requirements: { attestationRequirement?: { terms: object } }[] }>(
    'GetOnboardingRequirements',
    {},
  );
  for (const { attestationRequirement } of requirements)
    if (attestationRequirement) await customer('AcceptTerms', attestationRequirement.terms);
});
afterAll(async () => {
  await service.close();
  close();
});

test('the operator is paged once for each attestation that begins, and the page names nobody', async () => {
  expect(await status()).toBe('COMPLIANCE_STATUS_PROCESSING');
  for (let rounds = 0; rounds < 2; rounds++) await service.worker.runDue();
  expect(await status()).toBe('COMPLIANCE_STATUS_PROCESSING');
  await expect.poll(() => pages().length).toBe(2);
  expect(pages().map(({ fields }) => fields.type)).toEqual(['VALIDATED_EMAIL', 'AML_CHECK']);
  expect(pages()[1]).toMatchObject({
    event: 'attestation_waiting',
    fields: { attestation_id: expect.stringMatching(/^att_/) as string, customer_id: 'cus_live', type: 'AML_CHECK' },
  });
  expect(JSON.stringify(pages()).toLowerCase()).not.toContain('hildegard');
});

test('it is listed, looked at with its data, and decided; a dry run and a missing answer change nothing', async () => {
  const [email, id] = pages().map(({ fields }) => String(fields.attestation_id));
  expect((await run(`attestations decide ${email} passed --yes`)).stdout).toContain('VALIDATED_EMAIL');
  const listed = await run('attestations', { terminal: true });
  expect(listed.stdout).toMatch(new RegExp(`${id}\\s+AML check\\s+cus_live\\s+waits`));
  for (const line of listed.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect((await run('attestations')).stdout).toMatch(new RegExp(`^${id}\tAML_CHECK\tcus_live\trunning\t20`));
  expect((await run('attestations --json attestation_id,state')).json()).toEqual({
    attestations: [{ attestation_id: id, state: 'running' }],
  });
  const shown = await run(`attestations show ${id}`, { terminal: true });
  expect(shown.stdout).toMatch(/name\.firstName\s+Hildegard/);
  const planned = await run(`attestations decide ${id} passed --dry-run --json`);
  expect(planned.json()).toMatchObject({
    dry_run: true,
    plan: ['Pass it: AML_CHECK of cus_live, which waits.'],
    attestation_id: id,
    verdict: 'passed',
  });
  expect((await run(`attestations decide ${id} passed`)).exitCode).toBe(2);
  expect((await run(`attestations decide ${id} passed`, { terminal: true, answers: [false] })).exitCode).toBe(5);
  expect(await status()).toBe('COMPLIANCE_STATUS_PROCESSING');

  const decided = await run(`attestations decide ${id} rejected --yes --json`);
  expect(decided.json()).toMatchObject({ attestation_id: id, state: 'rejected' });
  expect(await status()).toBe('COMPLIANCE_STATUS_REJECTED');
  const again = await run(`attestations decide ${id} passed`, { terminal: true, answers: [true] });
  expect(again.stdout).toContain('AML_CHECK of cus_live: passed');
  expect(await status()).toBe('COMPLIANCE_STATUS_SUCCESS');
  expect((await run('attestations', { terminal: true })).stdout).toContain('No attestations are waiting');
  const trail = await run(`audit list --subject ${id} --json action`);
  expect(trail.stdout.match(/attestation\.\w+/g)).toEqual([
    'attestation.decide',
    'attestation.decide',
    'attestation.look',
  ]);
});

const WHY = 'Hildegard is on the list of 2026.';

test('a verdict keeps its reason: operators see it, nobody else does, and it goes with the data', async () => {
  const [id] = pages().map(({ fields }) => String(fields.attestation_id));
  const reasoned = await runInMemory(['attestations', 'decide', String(id), 'rejected', '--reason', WHY, '--yes'], {
    environment: { FARELOCK_HOME: home, FARELOCK_ENVIRONMENT: 'live' },
  });
  expect([reasoned.exitCode, reasoned.stdout]).toEqual([0, expect.not.stringContaining(WHY)]);
  expect((await run(`attestations show ${id}`, { terminal: true })).stdout).toContain(WHY);
  expect((await run(`attestations show ${id} --json`)).json()).toMatchObject({ state: 'rejected', reason: WHY });
  // Neither the customer and the partner, nor lists, the trail and the file hear it.
  const asked = await customer('GetOnboardingRequirements', {});
  const seen = [await run('attestations --json'), await run(`audit list --subject ${id} --json`)];
  expect(JSON.stringify([asked, ...seen.map(({ stdout }) => stdout)])).not.toContain('on the list');
  expect(seen[1]?.stdout).toContain('"has_reason":true');
  for (const file of ['service.db', 'service.db-wal'])
    expect(readFileSync(join(home, file)).includes('on the list'), file).toBe(false);
  const operatorKey = readFileSync(await service.operatorKeyFile(), 'utf8').trim();
  const headers = { authorization: `Bearer ${operatorKey}` };
  const exported = async () =>
    JSON.stringify((await call('/operator/customers/cus_live/export', {}, { headers })).body);
  expect(await exported()).toContain(WHY);
  // Another verdict has its own reason, or none.
  const long = await call(
    `/operator/attestations/${id}/decide`,
    { verdict: 'passed', reason: 'x'.repeat(501) },
    { headers },
  );
  expect(long.status).toBe(400);
  await run(`attestations decide ${id} passed --yes`);
  expect((await run(`attestations show ${id} --json`)).json()).toMatchObject({ state: 'passed', reason: null });
  await call(`/operator/attestations/${id}/decide`, { verdict: 'passed', reason: WHY }, { headers });
  await call('/operator/customers/cus_live/erase', {}, { headers });
  expect(await exported()).not.toContain('on the list');
});

test('an unknown attestation is not found, and another verdict than the two is usage', async () => {
  for (const line of ['show att_none', 'decide att_none passed --yes', 'decide att_none passed --dry-run']) {
    expect((await run(`attestations ${line}`)).exitCode, line).toBe(3);
  }
  expect((await run('attestations decide att_none maybe --yes')).exitCode).toBe(2);
});
