-- Opens a draft, waits for a diagnostic, cites the first paper from the library, saves all files and quits.
local server, draft, sentence = vim.env.WHYCITE_SERVER, vim.env.WHYCITE_DRAFT, vim.env.WHYCITE_SENTENCE

local function wait_for(what, condition)
  if not vim.wait(120000, condition, 50) then error("never came: " .. what) end
end

local function main()
  vim.o.hidden = true
  vim.cmd("edit " .. vim.fn.fnameescape(draft))
  local config = { name = "whycite", cmd = { server, "lsp" }, root_dir = vim.fn.fnamemodify(draft, ":h") }
  if vim.lsp.start then
    vim.lsp.start(config)
  else -- before Neovim 0.8
    vim.lsp.buf_attach_client(0, vim.lsp.start_client(config))
  end

  -- Papers come shortly after the sentence is marked.
  local marked
  wait_for("a diagnostic with papers", function()
    for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
      local line = vim.api.nvim_buf_get_lines(0, diagnostic.lnum, diagnostic.lnum + 1, false)[1]
      if line:sub(diagnostic.col + 1, diagnostic.end_col) == sentence and diagnostic.message:find("It could cite") then
        marked = diagnostic
      end
    end
    return marked ~= nil
  end)
  print("diagnostic: " .. marked.source .. ": " .. marked.message)

  local titles, chosen = {}, nil
  vim.ui.select = function(items, options, choose)
    for _, item in ipairs(items) do
      local title = options.format_item(item)
      table.insert(titles, title)
      if not chosen and title:find("^Cite .*adds it to the bibliography") then chosen = item end
    end
    choose(chosen)
  end
  vim.api.nvim_win_set_cursor(0, { marked.lnum + 1, marked.col })
  vim.lsp.buf.code_action()
  wait_for("the citation", function()
    return vim.fn.search("\\\\cite{kaiser", "nw") > 0
  end)
  print("actions: " .. table.concat(titles, " | "))

  -- The entry is in a buffer that was not open before; the server knows it only if it is told of such files.
  vim.cmd("wall")
end

local ok, message = xpcall(main, debug.traceback)
if not ok then
  print(message)
  vim.cmd("cquit 1")
end
vim.cmd("qall!")
