// The order in which test files begin. Files that start processes come first, because they mostly wait. Then the
// longest files, so that none is left for the end. Without an earlier run, Vitest would order them by size.
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Copied from the table at the end of a run, longest first. test/longest-first.test.ts reports files that are gone. */
export const LONGEST = [
  'test/faults/cluster-nodes.test.ts',
  'test/faults/cluster-database.test.ts',
  'test/faults/channel.test.ts',
  'test/faults/channel-hosts.test.ts',
  'bench/bench.process.test.ts',
  'test/faults/telegram.test.ts',
  'test/daemon/planted.test.ts',
  'test/faults/connector-crashes.test.ts',
  'test/faults/random-kills.test.ts',
  'test/faults/chorus-chain.test.ts',
  'test/browser/page.test.ts',
  'test/faults/cluster-across.test.ts',
  'test/daemon/cluster.test.ts',
  'test/browser/page-doubts.test.ts',
  'test/faults/email.test.ts',
  'test/browser/console-look.test.ts',
  'test/browser/console.test.ts',
  'test/faults/whatsapp.test.ts',
  'test/faults/llm-kills.test.ts',
  'test/faults/sending.test.ts',
  'test/faults/crash-points.test.ts',
  'test/faults/store-away.test.ts',
  'src/platforms/mcp/bad-servers.process.test.ts',
  'test/faults/channel-hosting.test.ts',
  'test/daemon/reload.test.ts',
  'test/daemon/instances.test.ts',
  'src/store/postgres/postgres-suite.test.ts',
  'src/store/postgres/postgres-suite-rest.test.ts',
  'test/scenarios/discord-faults.test.ts',
  'test/scenarios/whatsapp-faults.test.ts',
  'test/scenarios/discord-deaf.test.ts',
  'test/scenarios/schedules.test.ts',
  'test/scenarios/access.test.ts',
  'test/scenarios/sending.test.ts',
  'src/kit/markdown/hostile.steps.test.ts',
  'test/scenarios/approvals.test.ts',
  'test/scenarios/ten-thousand.test.ts',
]

export function rankOf(file: string): number {
  const at = LONGEST.indexOf(file)
  return at === -1 ? LONGEST.length : at
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const known = await super.sort(files)
    const root = this.ctx.config.root
    const key = (one: TestSpecification) =>
      (['processes', 'smoke'].includes(one.project.name) ? 0 : 1_000) + rankOf(relative(root, one.moduleId))
    return [...known].sort((a, b) => key(a) - key(b))
  }
}
