// The door of the room: switchboard.yaml, secrets and the data folder. Nobody else reads files or the environment.
export type { Built } from './cross-check.ts'
export { defaultSettings, LOCAL_USER } from './default-settings.ts'
export { digestOf } from './digest.ts'
export { configError, type LoadDeps, type LoadResult, loadSettings } from './load.ts'
export { type Problem, renderProblem, renderProblems } from './problem.ts'
export { withoutPassword } from './settings-of.ts'
