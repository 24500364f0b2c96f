"""What DeepL's library for Python (PyPI) gets from a server, as JSON: deepl_client.py ADDRESS DIRECTORY."""

import json
import os
import sys

import deepl

address, directory = sys.argv[1:]
client = deepl.DeepLClient("any", server_url=address)
tmx = os.path.join(directory, "houses.tmx")
with open(tmx, "w", encoding="utf-8") as file:
    file.write('<tmx version="1.4"><header srclang="en"/><body>'
               '<tu><tuv xml:lang="en"><seg>The old house is small.</seg></tuv>'
               '<tuv xml:lang="de"><seg>Klein ist das alte Haus.</seg></tuv></tu>'
               '<tu><tuv xml:lang="en"><seg>The cat sleeps.</seg></tuv>'
               '<tuv xml:lang="de"><seg>Die Katze schl\u00e4ft.</seg></tuv></tu></body></tmx>')
job = client.import_translation_memory_from_filepath(tmx, display_name="Houses", timeout_s=30)
memory = client.get_translation_memory(job.result.translation_memory_id)
first = client.list_translation_memory_segments(memory, page_size=1)
second = client.list_translation_memory_segments(memory, page_size=1, page_cursor=first.next_page_cursor)
found = client.list_translation_memory_segments(memory, filter_text="katze")
text = client.translate_text("The old house is small.", source_lang="EN", target_lang="DE", translation_memory=memory,
                             model_type="quality_optimized")
exported = os.path.join(directory, "exported.tmx")
export = client.export_translation_memory_to_filepath(memory, exported, timeout_s=30)
listed = client.list_translation_memories(page=0, page_size=5)
client.delete_translation_memory(memory)
with open(exported, encoding="utf-8") as file:
    print(json.dumps({
        "jobs": [job.status, export.status],
        "memory": [memory.name, memory.source_language, memory.target_languages, memory.segment_count],
        "segments": [segment.source_text for page in (first, second, found) for segment in page],
        "last": second.next_page_cursor,
        "text": text.text,
        "model_type": text.model_type_used,
        "exported": file.read().count("<tu>"),
        "listed": [len(listed), len(client.list_translation_memories())],
        "counted": client.get_usage().character.count > 0}))
