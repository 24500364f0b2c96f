// Calls the methods of the clients that Maven has for other translation APIs, and prints what came, as client_methods.py:
//
//   java -cp CLIENTS tests/e2e/ClientMethods.java GRPC_ADDRESS HTTP_ADDRESS
//
// tests/e2e/compat_test.py makes the class path and has the versions.  The server has the model en-de and a store.  Of a
// method with several forms one is called.

import com.azure.ai.translation.text.TextTranslationClientBuilder;
import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.RetryOptions;
import com.deepl.api.*;
import com.google.api.gax.core.NoCredentialsProvider;
import com.google.api.gax.grpc.InstantiatingGrpcChannelProvider;
import com.google.cloud.NoCredentials;
import com.google.cloud.translate.Translate;
import com.google.cloud.translate.v3.*;
import com.google.protobuf.ByteString;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.function.Predicate;

public class ClientMethods {
  static final List<String> TEXTS = List.of("The old house is small.", "Good morning.");
  static final String QUESTION = "Wo ist der Bahnhof?";
  static final Map<String, Map<String, Map<String, String>>> rows = new LinkedHashMap<>();
  static String section, column;

  static String outcomeOf(Throwable error) {
    if (error instanceof ExecutionException) error = error.getCause();
    String text = String.valueOf(error.getMessage()).split("\n")[0];
    boolean isMissing = text.matches("40[45]:.*|.*(UNIMPLEMENTED|[Nn]ot [Ff]ound|Status code 404|status code: 405|there is no such).*");
    return isMissing ? "not there" : "refused: " + text;
  }

  static <T> T call(String method, Callable<T> act, Predicate<T> good) {
    Map<String, String> cells =
        rows.computeIfAbsent(section, key -> new LinkedHashMap<>()).computeIfAbsent(method, key -> new HashMap<>());
    try {
      T value = act.call();
      cells.put(column, good.test(value) ? "works" : "**wrong**: " + value);
      return value;
    } catch (Throwable error) {
      if (System.getenv("VERBOSE") != null) error.printStackTrace();
      cells.put(column, outcomeOf(error));
      return null;
    }
  }

  static <T> T call(String method, Callable<T> act) {
    return call(method, act, value -> true);
  }

  interface Act {
    void run() throws Exception;
  }

  static void run(String method, Act act) {
    call(method, () -> {
      act.run();
      return true;
    });
  }

  static void callDeepL(String address, List<String> german) throws Exception {
    section = "DeepL, Java";
    column = "deepl-java 1.17.0";
    DeepLClientOptions options = new DeepLClientOptions();
    options.setServerUrl(address);
    options.setMaxRetries(0);
    DeepLClient client = new DeepLClient("any", options);
    GlossaryEntries houses = new GlossaryEntries(Map.of("house", "Haus"));
    String csv = "cat,Katze\n";
    Predicate<TextResult> good = result -> result.getText().equals(german.get(0));
    call("translateText", () -> client.translateText(TEXTS, null, "de"),
        results -> results.get(1).getText().equals(german.get(1)) && results.get(0).getDetectedSourceLanguage().equals("en"));
    call("translateText, formality", () -> client.translateText(
        TEXTS.get(0), null, "de", new TextTranslationOptions().setFormality(Formality.More)));
    call("getUsage", client::getUsage, usage -> usage.getCharacter().getCount() > 0);
    call("getSourceLanguages", client::getSourceLanguages, found -> found.get(0).getCode().equals("en"));
    call("getTargetLanguages", client::getTargetLanguages, found -> found.get(0).getCode().equals("de"));
    call("getLanguages", () -> client.getLanguages(LanguageType.Target), found -> found.size() == 1);
    call("getGlossaryLanguages", client::getGlossaryLanguages, found -> found.size() == 1);

    GlossaryInfo glossary = call("createGlossary", () -> client.createGlossary("Houses", "en", "de", houses));
    GlossaryInfo other = call("createGlossaryFromCsv", () -> client.createGlossaryFromCsv("Cats", "en", "de", csv));
    call("translateText, glossary", () -> client.translateText(
        TEXTS.get(0), "en", "de", new TextTranslationOptions().setGlossary(glossary)), good);
    call("getGlossary", () -> client.getGlossary(glossary.getGlossaryId()), found -> found.getName().equals("Houses"));
    call("listGlossaries", client::listGlossaries, found -> found.size() == 2);
    call("getGlossaryEntries", () -> client.getGlossaryEntries(other), found -> found.get("cat").equals("Katze"));
    run("deleteGlossary", () -> client.deleteGlossary(glossary));
    client.deleteGlossary(other);

    MultilingualGlossaryDictionaryEntries dictionary = new MultilingualGlossaryDictionaryEntries("en", "de", houses);
    MultilingualGlossaryInfo animals = call("createMultilingualGlossary",
        () -> client.createMultilingualGlossary("Houses", List.of(dictionary)));
    String id = animals.getGlossaryId();
    MultilingualGlossaryInfo cats = call("createMultilingualGlossaryFromCsv",
        () -> client.createMultilingualGlossaryFromCsv("Cats", "en", "de", csv));
    call("updateMultilingualGlossaryName", () -> client.updateMultilingualGlossaryName(id, "Animals"),
        changed -> changed.getName().equals("Animals"));
    call("updateMultilingualGlossaryDictionary", () -> client.updateMultilingualGlossaryDictionary(id, dictionary));
    call("updateMultilingualGlossaryDictionaryFromCsv",
        () -> client.updateMultilingualGlossaryDictionaryFromCsv(id, "en", "de", csv),
        changed -> changed.getDictionaries().get(0).getEntryCount() == 2);
    call("replaceMultilingualGlossaryDictionary", () -> client.replaceMultilingualGlossaryDictionary(id, dictionary),
        changed -> changed.getEntryCount() == 1);
    call("replaceMultilingualGlossaryDictionaryFromCsv",
        () -> client.replaceMultilingualGlossaryDictionaryFromCsv(id, "en", "de", csv), changed -> changed.getEntryCount() == 1);
    call("getMultilingualGlossary", () -> client.getMultilingualGlossary(id), found -> found.getName().equals("Animals"));
    call("listMultilingualGlossaries", client::listMultilingualGlossaries, found -> found.size() == 2);
    call("getMultilingualGlossaryDictionaryEntries", () -> client.getMultilingualGlossaryDictionaryEntries(id, "en", "de"),
        found -> found.getEntries().get("cat").equals("Katze"));
    run("deleteMultilingualGlossaryDictionary", () -> client.deleteMultilingualGlossaryDictionary(id, "en", "de"));
    run("deleteMultilingualGlossary", () -> client.deleteMultilingualGlossary(id));
    client.deleteMultilingualGlossary(cats);

    Path folder = Files.createTempDirectory("deepl");
    File input = folder.resolve("in.txt").toFile(), output = folder.resolve("out.txt").toFile();
    File tmx = folder.resolve("in.tmx").toFile(), exported = folder.resolve("out.tmx").toFile();
    Files.writeString(input.toPath(), TEXTS.get(0));
    Files.writeString(tmx.toPath(), "<tmx version=\"1.4\"><header srclang=\"en\"/><body><tu><tuv xml:lang=\"en\">"
        + "<seg>The cat sleeps.</seg></tuv><tuv xml:lang=\"de\"><seg>Die Katze ruht.</seg></tuv></tu></body></tmx>");
    call("translateDocument", () -> client.translateDocument(input, output, null, "de"), status -> status.done());
    DocumentHandle handle = call("translateDocumentUpload", () -> client.translateDocumentUpload(input, null, "de"));
    call("translateDocumentStatus", () -> client.translateDocumentStatus(handle), status -> status.ok());
    call("translateDocumentWaitUntilDone", () -> client.translateDocumentWaitUntilDone(handle), status -> status.done());
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    call("translateDocumentDownload", () -> {
      client.translateDocumentDownload(handle, bytes);
      return bytes.toString();
    }, text -> text.equals(german.get(0)));

    TranslationMemoryImport begun = call("createTranslationMemoryImport",
        () -> client.createTranslationMemoryImport("in.tmx", tmx.length(), "Cats", null));
    run("uploadTranslationMemoryFile", () -> client.uploadTranslationMemoryFile(begun, Files.readAllBytes(tmx.toPath())));
    call("getTranslationMemoryJob", () -> client.getTranslationMemoryJob(begun.getJobId()));
    call("waitUntilTranslationMemoryJobDone", () -> client.waitUntilTranslationMemoryJobDone(begun.getJobId()));
    call("importTranslationMemoryFromFilepath", () -> client.importTranslationMemoryFromFilepath(tmx, "More"));
    List<TranslationMemoryInfo> memories =
        call("listTranslationMemories", () -> client.listTranslationMemories(), found -> found.size() == 2);
    TranslationMemoryInfo memory = memories.get(0);
    call("getTranslationMemory", () -> client.getTranslationMemory(memory), found -> found.getSegmentCount() == 1);
    call("listTranslationMemorySegments", () -> client.listTranslationMemorySegments(memory),
        found -> found.getSegments().get(0).getSourceText().equals("The cat sleeps."));
    TranslationMemoryExport export = call("createTranslationMemoryExport", () -> client.createTranslationMemoryExport(memory));
    TranslationMemoryJob done = client.waitUntilTranslationMemoryJobDone(export.getJobId());
    run("downloadTranslationMemoryExport", () -> client.downloadTranslationMemoryExport(done, new ByteArrayOutputStream()));
    call("exportTranslationMemoryToFilepath", () -> client.exportTranslationMemoryToFilepath(memory, exported),
        job -> exported.length() > 0);
    run("deleteTranslationMemory", () -> client.deleteTranslationMemory(memory));

    call("rephraseText", () -> client.rephraseText(TEXTS.get(0), "de", new TextRephraseOptions()));
    call("getAllStyleRules", () -> client.getAllStyleRules());
    call("createStyleRule", () -> client.createStyleRule("Brief", "de", null, null));
    call("getStyleRule", () -> client.getStyleRule("any"));
    call("updateStyleRuleName", () -> client.updateStyleRuleName("any", "Short"));
    run("deleteStyleRule", () -> client.deleteStyleRule("any"));
    call("createStyleRuleCustomInstruction",
        () -> client.createStyleRuleCustomInstruction("any", "Brief", "Be brief.", null));
    call("getStyleRuleCustomInstruction", () -> client.getStyleRuleCustomInstruction("any", "any"));
    run("deleteStyleRuleCustomInstruction", () -> client.deleteStyleRuleCustomInstruction("any", "any"));
  }

  static void callGoogleV2(String address, List<String> german) {
    section = "Google v2, Java";
    column = "google-cloud-translate 2.88.0";
    Translate client = com.google.cloud.translate.TranslateOptions.newBuilder().setHost(address)
        .setCredentials(NoCredentials.getInstance()).build().getService();
    call("translate", () -> client.translate(TEXTS, Translate.TranslateOption.targetLanguage("de"),
        Translate.TranslateOption.format("text")), found -> found.get(0).getTranslatedText().equals(german.get(0)));
    call("detect", () -> client.detect(List.of(QUESTION)), found -> found.get(0).getLanguage().equals("de"));
    call("listSupportedLanguages", () -> client.listSupportedLanguages(), found -> found.size() == 2);
  }

  static void callGoogleV3(TranslationServiceClient client, List<String> german) {
    section = "Google v3, Java";
    String parent = "projects/any/locations/global", name = parent + "/glossaries/any";
    TranslateTextRequest texts = TranslateTextRequest.newBuilder().setParent(parent).addAllContents(TEXTS)
        .setMimeType("text/plain").setTargetLanguageCode("de").build();
    call("translateText", () -> client.translateText(texts),
        found -> found.getTranslations(0).getTranslatedText().equals(german.get(0)));
    call("detectLanguage", () -> client.detectLanguage(
        DetectLanguageRequest.newBuilder().setParent(parent).setContent(QUESTION).build()),
        found -> found.getLanguages(0).getLanguageCode().equals("de"));
    call("getSupportedLanguages", () -> client.getSupportedLanguages(
        GetSupportedLanguagesRequest.newBuilder().setParent(parent).build()), found -> found.getLanguagesCount() == 2);
    TranslateDocumentRequest document = TranslateDocumentRequest.newBuilder().setParent(parent).setTargetLanguageCode("de")
        .setDocumentInputConfig(DocumentInputConfig.newBuilder().setMimeType("text/plain")
            .setContent(ByteString.copyFromUtf8(TEXTS.get(0)))).build();
    call("translateDocument", () -> client.translateDocument(document),
        found -> found.getDocumentTranslation().getByteStreamOutputs(0).toStringUtf8().equals(german.get(0)));
    Glossary glossary = Glossary.newBuilder().setName(name).setLanguagePair(Glossary.LanguageCodePair.newBuilder()
        .setSourceLanguageCode("en").setTargetLanguageCode("de")).build();
    call("createGlossaryAsync", () -> client.createGlossaryAsync(parent, glossary).get(), made -> made.getName().equals(name));
    GlossaryEntry entry = GlossaryEntry.newBuilder().setTermsPair(GlossaryEntry.GlossaryTermsPair.newBuilder()
        .setSourceTerm(GlossaryTerm.newBuilder().setLanguageCode("en").setText("house"))
        .setTargetTerm(GlossaryTerm.newBuilder().setLanguageCode("de").setText("Hütte"))).build();
    GlossaryEntry added = call("createGlossaryEntry", () -> client.createGlossaryEntry(name, entry));
    call("listGlossaries", () -> client.listGlossaries(parent), found -> found.iterateAll().iterator().hasNext());
    call("getGlossary", () -> client.getGlossary(name), found -> found.getEntryCount() == 1);
    call("listGlossaryEntries", () -> client.listGlossaryEntries(name), found -> found.iterateAll().iterator().hasNext());
    call("getGlossaryEntry", () -> client.getGlossaryEntry(added.getName()), found -> found.equals(added));
    TranslateTextGlossaryConfig config = TranslateTextGlossaryConfig.newBuilder().setGlossary(name).build();
    call("translateText, glossaryConfig", () -> client.translateText(texts.toBuilder().setGlossaryConfig(config).build()),
        found -> found.getGlossaryTranslations(0).getTranslatedText().contains("Hütte"));
    call("updateGlossaryEntry", () -> client.updateGlossaryEntry(added));
    run("deleteGlossaryEntry", () -> client.deleteGlossaryEntry(added.getName()));
    call("deleteGlossaryAsync", () -> client.deleteGlossaryAsync(name).get(), gone -> gone.getName().equals(name));
    call("romanizeText", () -> client.romanizeText(parent, TEXTS));
    call("adaptiveMtTranslate", () -> client.adaptiveMtTranslate(parent, TEXTS));
    call("listDatasets", () -> client.listDatasets(parent));
    call("listModels", () -> client.listModels(parent));
    call("listAdaptiveMtDatasets", () -> client.listAdaptiveMtDatasets(parent));
    client.close();
  }

  static void callAzure(String address, List<String> german) {
    section = "Azure text, Java";
    column = "azure-ai-translation-text 1.1.2";
    var client = new TextTranslationClientBuilder().endpoint(address)  // it sends keys over TLS only
        .retryOptions(new RetryOptions(new FixedDelayOptions(0, Duration.ofMillis(1)))).buildClient();
    call("translate", () -> client.translate("de", TEXTS),
        found -> found.get(0).getTranslations().get(0).getText().equals(german.get(0)));
    call("getSupportedLanguages", () -> client.getSupportedLanguages(), found -> found.getTranslation().size() == 2);
    call("findSentenceBoundaries", () -> client.findSentenceBoundaries(TEXTS), found -> found.size() == 2);
    call("transliterate", () -> client.transliterate("ru", "Cyrl", "Latn", "Доброе утро"));
    call("lookupDictionaryEntries", () -> client.lookupDictionaryEntries("en", "de", "house"));
  }

  static void callOpenAI(String address, List<String> german) {
    section = "OpenAI, Java";
    column = "openai-java 4.101.0";
    var client = OpenAIOkHttpClient.builder().baseUrl(address + "/v1").apiKey("any").maxRetries(0).build();
    var text = ChatCompletionCreateParams.builder().model("en-de:en-de").addUserMessage(TEXTS.get(0)).build();
    call("chat.completions.create", () -> client.chat().completions().create(text),
        found -> found.choices().get(0).message().content().get().equals(german.get(0)));
    call("chat.completions.createStreaming", () -> {
      StringBuilder whole = new StringBuilder();
      try (var chunks = client.chat().completions().createStreaming(text)) {
        chunks.stream().forEach(each -> each.choices().forEach(one -> whole.append(one.delta().content().orElse(""))));
      }
      return whole.toString();
    }, whole -> whole.equals(german.get(0)));
    call("chat.completions.list", () -> client.chat().completions().list());
    call("models.list", () -> client.models().list(), found -> found.data().get(0).id().equals("en-de"));
    call("models.retrieve", () -> client.models().retrieve("en-de"), found -> found.id().equals("en-de"));
    call("models.delete", () -> client.models().delete("en-de"));
    client.close();
  }

  public static void main(String[] args) throws Exception {
    String address = "http://" + args[1];
    DeepLClientOptions options = new DeepLClientOptions();
    options.setServerUrl(address);
    List<String> german = new DeepLClient("any", options).translateText(TEXTS, "en", "de").stream()
        .map(TextResult::getText).toList();
    callDeepL(address, german);
    callGoogleV2(address, german);
    column = "google-cloud-translate 2.88.0, gRPC";
    callGoogleV3(TranslationServiceClient.create(TranslationServiceSettings.newBuilder()
        .setCredentialsProvider(NoCredentialsProvider.create()).setTransportChannelProvider(
            InstantiatingGrpcChannelProvider.newBuilder().setEndpoint(args[0])
                .setChannelConfigurator(channel -> channel.usePlaintext()).build()).build()), german);
    callAzure(address, german);
    callOpenAI(address, german);
    rows.forEach((title, methods) -> {
      Set<String> columns = new LinkedHashSet<>();
      methods.values().forEach(cells -> columns.addAll(cells.keySet()));
      System.out.printf("%n## %s%n%n| method | %s |%n|%s%n", title, String.join(" | ", columns),
          "---|".repeat(columns.size() + 1));
      methods.forEach((method, cells) -> System.out.printf("| `%s` | %s |%n", method,
          String.join(" | ", columns.stream().map(each -> cells.get(each).replace("|", "&#124;")).toList())));
    });
    System.exit(0);
  }
}
