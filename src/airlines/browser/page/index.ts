export { launch, needBrowser } from './chromium.ts';
export * from './read.ts';
export { privateWords, redacted, showRedacted } from './redact.ts';
export {
  click,
  clickOnce,
  free,
  isPayButton,
  isPressed,
  passengerValues,
  runSteps,
  untickAll,
  walkOf,
} from './steps.ts';
export { type Account, openVisit, type Visit, type Watcher } from './visit.ts';
export {
  BrowserGone,
  inScope,
  isSeen,
  locate,
  Misfit,
  pause,
  Stopped,
  saidAt,
  shown,
  until,
  type Walk,
  wordsOf,
} from './walk.ts';
