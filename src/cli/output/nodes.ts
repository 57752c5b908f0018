// The nodes of a cluster as a table, for status and doctor.
import type { NodeView } from '../../contract/index.ts'
import { type Paint, paintState } from './colour.ts'
import { renderTable } from './table.ts'
import { relativeTime } from './time.ts'

export function renderNodes(
  nodes: readonly NodeView[],
  look: { readonly paint: Paint; readonly width: number | null; readonly now: number },
): string {
  const { paint, width, now } = look
  return renderTable(
    nodes,
    [
      { title: 'NODE', value: (row) => row.node, givesWay: 1 },
      {
        title: 'STATE',
        value: (row) => row.state,
        paint: (cell, row) =>
          cell === row.state ? paintState(paint, row.state === 'up' ? 'up' : 'down') : cell,
      },
      { title: 'VERSION', value: (row) => row.version },
      { title: 'CONFIG', value: (row) => row.digest.slice(0, 12) },
      { title: 'SEEN', value: (row) => relativeTime(row.seen_at, now) },
      { title: 'AGENTS', value: (row) => row.agents.join(', '), givesWay: 2 },
      { title: 'URL', value: (row) => row.url, givesWay: 3 },
    ],
    { paint, width },
  )
}
