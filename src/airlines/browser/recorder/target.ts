import type { Frame, Locator } from 'playwright-core';
import { inScope } from '../page/index.ts';
import type { OneTarget, Target } from '../recipes/index.ts';
import { FIELD_ROLES, frameSelector, readNames } from '../trial/index.ts';

const LOOK_MS = 2_000;
const MOST_AROUND = 8;

/** The role and name that a person would say; null: none. */
async function namedAs(one: Locator): Promise<{ role: string; name: string } | null> {
  const [line = ''] = (await one.ariaSnapshot({ timeout: LOOK_MS }).catch(() => '')).split('\n');
  return readNames(line)[0] ?? null;
}

export interface Found {
  readonly target: Target;
  readonly role: string;
  readonly around: readonly string[];
}

/** The selectors of a frame and of those around it, the outer one first. */
async function framesOf(frame: Frame): Promise<string[]> {
  const outer = frame.parentFrame();
  return outer ? [...(await framesOf(outer)), await frameSelector(frame)] : [];
}

/** Points at a marked element by role and name, or label, so that one visible thing fits; `found` is null where nothing does. */
export async function targetOf(frame: Frame, mark: string): Promise<{ name: string; found: Found | null }> {
  const one = frame.locator(`[data-farelock-mark="${mark}"]`);
  const named = await namedAs(one);
  const { role = '', name = '' } = named ?? {};
  const [first, ...within] = await framesOf(frame);
  const frames = first === undefined ? {} : { frame: within.length === 0 ? first : [first, ...within] };
  const around: { role: string; name: string }[] = [];
  for (let i = 0; i < MOST_AROUND; i += 1) {
    const outer = frame.locator(`[data-farelock-around-${i}="${mark}"]`);
    if ((await outer.count()) === 0) break;
    const known = await namedAs(outer);
    if (known && known.role !== 'text') around.push(known);
  }
  const roles = around.map(({ role, name }) => `${role} ${name}`);
  for (const target of await pointers(one, named)) {
    const fits = (scope: Frame | Locator) => inScope(scope, target).filter({ visible: true }).count();
    if ((await fits(frame)) === 1) return { name, found: { target: { ...target, ...frames }, role, around: roles } };
    for (const known of around) {
      const outer = { ...known, exact: true } as OneTarget;
      const scope = inScope(frame, outer).filter({ visible: true });
      if ((await scope.count()) === 1 && (await fits(scope)) === 1)
        return { name, found: { target: { in: { ...outer, ...frames }, find: target }, role, around: roles } };
    }
  }
  return { name, found: null };
}

/** Ways to point at an element, the best first, as docs/carriers.md has them. */
async function pointers(one: Locator, named: { role: string; name: string } | null): Promise<OneTarget[]> {
  const all: OneTarget[] = [];
  if (named && FIELD_ROLES.has(named.role)) all.push({ label: named.name, exact: true });
  if (named && named.role !== 'text') all.push({ role: named.role, name: named.name, exact: true } as OneTarget);
  if (named?.role === 'text') all.push({ text: named.name, exact: true });
  const attribute = (name: string) => one.getAttribute(name, { timeout: LOOK_MS }).catch(() => null);
  const [hint, testId, id, name] = [
    ...[await attribute('placeholder'), await attribute('data-testid'), await attribute('id')],
    await attribute('name'),
  ];
  if (hint) all.push({ placeholder: hint, exact: true });
  if (testId) all.push({ test_id: testId });
  if (id && !/\d{3,}/.test(id)) all.push({ css: `#${id}` });
  if (name) all.push({ css: `[name=${JSON.stringify(name)}]` });
  return all.filter((target) => !/[{}]/.test(JSON.stringify(Object.values(target))));
}
