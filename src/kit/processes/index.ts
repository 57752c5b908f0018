// The keeper of processes: what a connector that starts programs, and hosted channel servers, stand on.
export { createGroupWatcher } from './group-watcher.ts'
export { createLines } from './lines.ts'
export { createProcessKeeper, type ProcessKeeper } from './process-keeper.ts'
export { reapProcesses } from './process-records.ts'
export { createRedactor } from './redact.ts'
export { createStderrLog } from './stderr-log.ts'
export { openWorktree } from './worktree.ts'
