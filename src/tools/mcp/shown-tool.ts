// A tool and its outcome in the form that MCP shows them, whatever carries the protocol.
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ToolOutcome } from '../../contract/index.ts'
import { inputSchemaOf, type Tool } from '../tool.ts'

const shownOnce = new Map<string, ReturnType<typeof describe>>()

/** Schemas do not change: each is made once. */
export function shownTool(tool: Tool) {
  const known = shownOnce.get(tool.name) ?? describe(tool)
  shownOnce.set(tool.name, known)
  return known
}

function describe(tool: Tool) {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: inputSchemaOf(tool),
    annotations: { title: tool.title, readOnlyHint: tool.readOnly },
    _meta: {
      'anthropic/maxResultSizeChars': tool.maxResultChars,
      ...(tool.alwaysLoad ? { 'anthropic/alwaysLoad': true } : {}),
    },
  }
}

export function shownResult(outcome: ToolOutcome): CallToolResult {
  return {
    content: [{ type: 'text', text: outcome.text }],
    structuredContent: { ...outcome.structured },
    ...(outcome.isError ? { isError: true } : {}),
  }
}

/**
 * The same for a host whose model reads: Claude Code shows it the structured content instead of the text where there is
 * one, so that the fields for programs go beside the result.
 */
export function shownText({ text, isError, structured }: ToolOutcome): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    _meta: { 'switchboard/result': { ...structured } },
    ...(isError ? { isError: true } : {}),
  }
}
