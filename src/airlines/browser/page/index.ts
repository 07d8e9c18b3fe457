export { findChromium } from './chromium.ts';
export * from './read.ts';
export { privateWords, redacted, showRedacted } from './redact.ts';
export { click, free, isClicked, isPressed, runSteps, untickAll, walkOf } from './steps.ts';
export { openVisit, type Visit } from './visit.ts';
export { BrowserGone, isSeen, Misfit, pause, Stopped, shown, until, type Walk } from './walk.ts';
