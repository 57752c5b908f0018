// A tool and its outcome in the form that MCP shows them, whatever carries the protocol.
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { NewFile, ToolOutcome } from '../../contract/index.ts'
import { type AnswerWay, type InputSchema, inputSchemaOf, sessionSchemaOf, type Tool } from '../tool.ts'

/** Schemas do not change: each is made once. */
export const shownTool = once(inputSchemaOf)
/** For who speaks for one session. */
export const shownSessionTool = once(sessionSchemaOf)

function once(schemaOf: (tool: Tool) => InputSchema) {
  const made = new Map<string, ReturnType<typeof describe>>()
  return (tool: Tool, way: AnswerWay = 'tools') => {
    const key = `${tool.name} ${way}`
    const known = made.get(key) ?? describe(tool, schemaOf(tool), way)
    made.set(key, known)
    return known
  }
}

function describe(tool: Tool, inputSchema: InputSchema, way: AnswerWay) {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.describe?.(way) ?? tool.description,
    inputSchema,
    annotations: { title: tool.title, readOnlyHint: tool.readOnly },
    _meta: {
      'anthropic/maxResultSizeChars': tool.maxResultChars,
      ...(tool.alwaysLoad ? { 'anthropic/alwaysLoad': true } : {}),
    },
  }
}

export function shownResult(outcome: ToolOutcome): CallToolResult {
  return {
    content: [{ type: 'text', text: outcome.text }, ...(outcome.files ?? []).map(shownFile)],
    structuredContent: { ...outcome.structured },
    ...(outcome.isError ? { isError: true } : {}),
  }
}

function shownFile({ name, mime, bytes }: NewFile, index: number): CallToolResult['content'][number] {
  const data = Buffer.from(bytes).toString('base64')
  if (mime.startsWith('image/')) return { type: 'image', data, mimeType: mime }
  const uri = `attachment:///${index + 1}/${encodeURIComponent(name)}`
  return { type: 'resource', resource: { uri, mimeType: mime, blob: data } }
}

/**
 * The same for a host whose model reads: Claude Code shows it the structured content instead of the text where there is
 * one, so that the fields for programs go beside the result.
 */
export function shownText({ text, isError, structured, note }: ToolOutcome): CallToolResult {
  return {
    content: [{ type: 'text', text }, ...(note === undefined ? [] : [{ type: 'text' as const, text: note }])],
    _meta: { 'switchboard/result': { ...structured } },
    ...(isError ? { isError: true } : {}),
  }
}
