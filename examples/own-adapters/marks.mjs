// An example renderer for a pager that knows only bold: strong text stands between asterisks, all else is plain text.
import { plainText } from 'switchboard/markdown'

/** @type {import('switchboard/markdown').MarkdownRenderer} */
export const marks = {
  render: (blocks) => ({ text: blocks.map(blockForm).join('\n\n'), plain: plainText(blocks) }),
  literal: (text) => ({ text: escaped(text), plain: text }),
}

/** @param {import('switchboard/markdown').MarkdownBlock} block */
function blockForm(block) {
  if (block.kind !== 'paragraph' && block.kind !== 'heading') return escaped(plainText([block]))
  return block.children.map(inlineForm).join('')
}

/** @param {import('switchboard/markdown').MarkdownInline} node */
function inlineForm(node) {
  if (node.kind === 'strong') return `*${node.children.map(inlineForm).join('')}*`
  return escaped(plainText([{ kind: 'paragraph', children: [node] }]))
}

/** @param {string} text */
const escaped = (text) => text.replace(/[*\\]/g, '\\$&')
