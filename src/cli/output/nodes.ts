// The nodes of a cluster as a table, for status and doctor.
import type { NodeView } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import { type Paint, paintState } from './colour.ts'
import { renderTable } from './table.ts'
import { relativeTime } from './time.ts'

export function renderNodes(
  nodes: readonly NodeView[],
  look: { readonly paint: Paint; readonly width: number | null; readonly now: number },
): string {
  const { paint, width, now } = look
  const { columns } = wordsIn().tables
  return renderTable(
    nodes,
    [
      { title: columns.node, value: (row) => row.node, givesWay: 1 },
      {
        title: columns.state,
        value: (row) => row.state,
        paint: (cell, row) =>
          cell === row.state ? paintState(paint, row.state === 'up' ? 'up' : 'down') : cell,
      },
      { title: columns.version, value: (row) => row.version },
      { title: columns.config, value: (row) => row.digest.slice(0, 12) },
      { title: columns.seen, value: (row) => relativeTime(row.seen_at, now) },
      { title: columns.agents, value: (row) => row.agents.join(', '), givesWay: 2 },
      { title: columns.url, value: (row) => row.url, givesWay: 3 },
    ],
    { paint, width },
  )
}
