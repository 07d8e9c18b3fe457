export * from './packages.ts';
export * from './recipes.ts';
export {
  namesIn,
  type OneTarget,
  type readDate,
  type readMoney,
  type readNumber,
  type readText,
  type Step,
  type Stop,
  type Target,
} from './steps.ts';
export * from './values.ts';
